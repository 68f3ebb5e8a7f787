"""The commands of the pipeline, for this machine and for docker-compose.yml alike. Owns arguments; starts nothing.

`run` gives them to the programs of this machine, docker-compose.yml to those of its images; a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.kafka_to_kafka.job import INPUT_TOPIC, OUTPUT_TOPIC

__all__ = ["BROKER_PROPERTIES", "consume", "job_arguments", "produce"]

BROKER_PROPERTIES: Mapping[str, str] = {
    # Topics come to be with the first message. A production cluster rather has them made on purpose.
    "auto.create.topics.enable": "true",
    "num.partitions": "4",
    # A consumer alone need not wait for others.
    "group.initial.rebalance.delay.ms": "0",
}
"""Properties of the broker over those of `e2e.harness.broker_files`."""
_CONSUMER_IDLE_MS = 5000


def produce(brokers: str) -> list[str]:
    """Return the arguments of `kafka-console-producer.sh` that take the lines of `messages` as messages with keys."""
    return ["--bootstrap-server", brokers, "--topic", INPUT_TOPIC, "--reader-property", "parse.key=true"]


def consume(brokers: str) -> list[str]:
    """Return the arguments of `kafka-console-consumer.sh` that print what is committed, and end when nothing more comes."""
    isolation = ["--isolation-level", "read_committed", "--timeout-ms", str(_CONSUMER_IDLE_MS)]
    return ["--bootstrap-server", brokers, "--topic", OUTPUT_TOPIC, "--from-beginning", *isolation]


def job_arguments(brokers: str, desks: str, jars: Sequence[str | Path], *options: str) -> list[str]:
    """Return the arguments of the job script."""
    return ["--brokers", brokers, "--desks", desks, "--jars", *map(str, jars), *options]
