"""The flights as messages for Kafka's console producer: `python -m examples.kafka_to_kafka.messages` prints them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from examples.demo.job import read_flights
from examples.demo.run import FLIGHTS

__all__ = ["message_lines"]


def message_lines(flights: Iterable[Mapping[str, Any]]) -> str:
    """Return a line for each flight: its destination, which is the key, a tab, the flight as JSON."""
    return "".join(f"{flight['destination']}\t{json.dumps(flight)}\n" for flight in flights)


if __name__ == "__main__":
    sys.stdout.write(message_lines(read_flights(FLIGHTS)))
