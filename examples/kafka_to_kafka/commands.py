"""The commands of the pipeline, for this machine and for docker-compose.yml alike. Owns arguments; starts nothing.

`run` gives them to the programs of this machine, docker-compose.yml to those of its images; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from examples.demo.job import read_flights
from examples.kafka_to_kafka.job import INPUT_TOPIC, OUTPUT_TOPIC

__all__ = ["consume", "create_topic", "job_arguments", "message_lines", "produce"]

_PARTITIONS = 4
_CONSUMER_IDLE_MS = 5000


def create_topic(brokers: str, topic: str) -> list[str]:
    """Return the arguments of `kafka-topics.sh` that create a topic."""
    address = ["--bootstrap-server", brokers]
    return [*address, "--create", "--if-not-exists", "--topic", topic, "--partitions", str(_PARTITIONS)]


def produce(brokers: str) -> list[str]:
    """Return the arguments of `kafka-console-producer.sh` that take the lines of `message_lines` as messages with keys."""
    return ["--bootstrap-server", brokers, "--topic", INPUT_TOPIC, "--reader-property", "parse.key=true"]


def consume(brokers: str) -> list[str]:
    """Return the arguments of `kafka-console-consumer.sh` that print what is committed, and end when nothing more comes."""
    isolation = ["--isolation-level", "read_committed", "--timeout-ms", str(_CONSUMER_IDLE_MS)]
    return ["--bootstrap-server", brokers, "--topic", OUTPUT_TOPIC, "--from-beginning", *isolation]


def job_arguments(brokers: str, desks: str, jars: Sequence[str | Path], *options: str) -> list[str]:
    """Return the arguments of the job script."""
    return ["--brokers", brokers, "--desks", desks, "--jars", *map(str, jars), *options]


def message_lines(flights: Path) -> str:
    """Return a line for each flight: its destination, a tab, the flight as JSON."""
    return "".join(f"{flight['destination']}\t{json.dumps(flight)}\n" for flight in read_flights(flights))
