"""Runs the example job, kills it in the middle, and tells whether anything was lost or done twice.

Exit status: 0 when every figure holds, 1 when one does not, 2 when the run could not be made.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from e2e.harness.effect_server import answer
from examples.command import Example, run_example
from examples.demo.expected import expect
from examples.demo.job import read_flights
from examples.demo.run import FLIGHTS, DemoRun, Plan

_EXAMPLE = Example(
    "destination-watch",
    """\
The flights of four days in February 2013, when a blizzard closed New York's airports, come as a stream. An agent per
destination keeps totals in Flink state, and has seats and rooms booked for the passengers of disrupted flights, by
sub-agents behind HTTP. In the middle the TaskManager is killed with -9. Nothing may be lost, and no booking whose
outcome was recorded may be made again.
""",
    sink="file sink",
    store="the store's files",
)


def main() -> int:
    """Make the run and print its summary."""
    options = _options()
    expectation = expect(read_flights(FLIGHTS), answer)
    plan = Plan(len(expectation.calls), tuple(sorted(options.kill_at)), options.per_second, options.checkpoint_ms)
    return run_example(_EXAMPLE, expectation, lambda folder, say: DemoRun(folder, plan, say), options.keep)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--kill-at",
        type=float,
        nargs="*",
        default=[0.4],
        metavar="SHARE",
        help="kill the TaskManager when this share of the calls was made (0 to 1); several kill it several times",
    )
    parser.add_argument("--per-second", type=float, default=150, help="flights a second")
    parser.add_argument("--checkpoint-ms", type=int, default=1000, help="time between checkpoints; 0: none")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this new folder, and leave it for a look")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
