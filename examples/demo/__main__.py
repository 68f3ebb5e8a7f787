"""Runs the example job, kills it in the middle, and tells whether anything was lost or done twice.

Exit status: 0 when every figure holds, 1 when one does not, 2 when the run could not be made.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from e2e.harness.effect_server import answer
from e2e.harness.processes import HarnessError, temporary_folder
from e2e.harness.signals import stop_on_signals
from examples.demo.checker import Report, check
from examples.demo.expected import expect
from examples.demo.job import read_flights
from examples.demo.run import FLIGHTS, DemoRun, Plan

_INTRODUCTION = """\
The flights of four days in February 2013, when a blizzard closed New York's airports, come as a stream. An agent per
destination keeps totals in Flink state, and has seats and rooms booked for the passengers of disrupted flights, by
sub-agents behind HTTP. In the middle the TaskManager is killed with -9. Nothing may be lost, and no booking whose
outcome was recorded may be made again.
"""


def main() -> int:
    """Make the run and print its summary."""
    options = _options()
    start_s = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - start_s:5.1f} s] {text}", flush=True)

    print(_INTRODUCTION, flush=True)
    expectation = expect(read_flights(FLIGHTS), answer)
    say(f"{len(expectation.outputs)} flights, for which {len(expectation.calls)} calls have to be made")
    plan = Plan(len(expectation.calls), tuple(sorted(options.kill_at)), options.per_second, options.checkpoint_ms)
    try:
        with stop_on_signals(), _working_folder(options.keep) as folder:
            run = DemoRun(folder, plan, say)
            run.perform()
            report = check(expectation, run.outputs(), run.desks.requests(), run.kills)
    except HarnessError as error:
        print(f"The run could not be made: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted; everything that was started is gone.", file=sys.stderr)
        return 130
    _print_summary(report, run, time.monotonic() - start_s)
    return 1 if report.problems else 0


def _working_folder(kept: Path | None) -> AbstractContextManager[Path]:
    if kept is None:
        return temporary_folder("destination-watch-")
    kept.mkdir(parents=True)
    return nullcontext(kept.resolve())


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


def _print_summary(report: Report, run: DemoRun, seconds: float) -> None:
    figures: list[tuple[str, object, str]] = [
        ("inputs", report.inputs, "flights"),
        ("outputs", report.outputs, "committed by the file sink"),
        ("distinct outputs", report.distinct_outputs, "compared with a plain loop over the data"),
        ("calls made", report.calls, "different idempotency keys at the desks"),
        ("calls recorded at the kill", report.recorded_at_kill, "outcomes in the store's files while it was dead"),
        ("recorded calls repeated", report.repeated_recorded, "must be 0"),
        ("calls in flight repeated", report.repeated_in_flight, "outcome not recorded; same idempotency key"),
        ("time lost", " + ".join(f"{lost:.1f} s" for lost in run.lost_s) or "none", "from the kill until all runs"),
        ("total time", f"{seconds:.0f} s", ""),
    ]
    print("\nSummary")
    for name, value, note in figures:
        print(f"  {name:<27} {value!s:>7}   {note}".rstrip())
    for problem in report.problems:
        print(f"  WRONG: {problem}")
    if report.problems:
        print("  The job failed with:", *dict.fromkeys(run.failures), sep="\n    ")
    print("\nEverything holds." if not report.problems else "\nFAILED: see what is marked WRONG.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
