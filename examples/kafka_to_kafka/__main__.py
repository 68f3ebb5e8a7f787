"""Runs the example job between two Kafka topics, kills it in the middle, and tells whether anything was lost or done twice.

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
from examples.demo.run import FLIGHTS
from examples.kafka_to_kafka.run import KafkaRun, Plan

_EXAMPLE = Example(
    "kafka-to-kafka",
    """\
The flights of the demo lie in a Kafka topic, as messages keyed by destination. An agent per destination keeps totals in
Flink state and has seats and rooms booked, by sub-agents behind HTTP; its outputs go to another topic, in transactions.
The outcomes of the calls are recorded in a third topic. In the middle the TaskManager is killed with -9. What a
reader of committed messages sees must be every output once, and no booking whose outcome was recorded may be made again.
""",
    sink="Kafka sink, read with read_committed",
    store="the store's topic",
)


def main() -> int:
    """Make the run and print its summary."""
    options = _options()
    flights = read_flights(FLIGHTS)[: options.flights]
    expectation = expect(flights, answer)
    plan = Plan(len(expectation.calls), tuple(sorted(options.kill_at)), checkpoint_ms=options.checkpoint_ms)
    return run_example(_EXAMPLE, expectation, lambda folder, say: KafkaRun(folder, plan, flights, say), options.keep)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.kafka_to_kafka", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--kill-at",
        type=float,
        nargs="*",
        default=[0.4],
        metavar="SHARE",
        help="kill the TaskManager when this share of the calls was made (0 to 1); several kill it several times",
    )
    parser.add_argument("--flights", type=int, metavar="N", help="only the first so many flights")
    parser.add_argument("--checkpoint-ms", type=int, default=1000, help="time between checkpoints")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this new folder, and leave it for a look")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
