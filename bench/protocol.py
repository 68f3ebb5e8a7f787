"""What the driver and a job say to each other; README.md is its text. Standard library only: every environment imports it.

The driver runs `python -m <job module> <sizes as JSON>`. The job prints one JSON object, alone on a line, with its figures.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

JAR_VARIABLE = "BENCH_JAR"
"""Names the jar with the measuring operators, compiled for the job's Flink."""
STARTED_VARIABLE = "BENCH_STARTED_AT"
"""Names the moment just before the job's process was started, in seconds since 1970."""
READING_VARIABLE = "BENCH_READING"
"""Names a file that code inside the TaskManager may leave figures in."""
BROKERS_VARIABLE = "BENCH_BROKERS"
"""Names the Kafka broker of the job, where its workload has one."""
BROKER_DATA_VARIABLE = "BENCH_BROKER_DATA"
"""Names the folder in which that broker has its topics."""


def sizes() -> dict[str, int]:
    """Return the sizes that the driver asked for."""
    given: dict[str, int] = json.loads(sys.argv[1])
    return given


def jar() -> str:
    """Return the path of the jar with the measuring operators."""
    return os.environ[JAR_VARIABLE]


def brokers() -> str:
    """Return the address of the job's Kafka broker."""
    return os.environ[BROKERS_VARIABLE]


def topic_bytes(topic: str) -> int:
    """Return how large the logs of a topic of that broker are."""
    logs = Path(os.environ[BROKER_DATA_VARIABLE]).glob(f"{topic}-*/*.log")
    return sum(log.stat().st_size for log in logs)


def since_start(epoch_ms: int) -> float:
    """Return the seconds from the start of this process to a moment of the wall clock."""
    return epoch_ms / 1000 - float(os.environ[STARTED_VARIABLE])


def leave(figures: Mapping[str, float]) -> None:
    """Leave figures that code inside the TaskManager took, for `left` in the job's process."""
    place = Path(os.environ[READING_VARIABLE])
    # Whoever waits for the file finds all of it.
    draft = place.with_name(f"{place.name}.draft")
    draft.write_text(json.dumps(figures), encoding="utf-8")
    draft.replace(place)


def left() -> dict[str, float]:
    """Return the figures that `leave` left."""
    figures: dict[str, float] = json.loads(Path(os.environ[READING_VARIABLE]).read_text(encoding="utf-8"))
    return figures


def take_left() -> dict[str, float] | None:
    """Return the figures that `leave` left and remove them, for the next; None if there are none yet."""
    place = Path(os.environ[READING_VARIABLE])
    if not place.exists():
        return None
    figures = left()
    place.unlink()
    return figures


def left_file(name: str) -> Path:
    """Return a file of this name for what code inside the TaskManager leaves piece by piece."""
    return Path(f"{os.environ[READING_VARIABLE]}-{name}")


def hand_in(figures: Mapping[str, float]) -> None:
    """Print the job's one line."""
    line = {**figures, "versions": _versions()}
    print(f"\n{json.dumps(line)}", flush=True)


def parse(output: str) -> dict[str, Any] | None:
    """Return the figures in a job's output, None where there are none: the last line that is a JSON object."""
    for line in reversed(output.splitlines()):
        if line.startswith("{") and line.endswith("}"):
            figures: dict[str, Any] = json.loads(line)
            return figures
    return None


def _versions() -> dict[str, str]:
    found = {}
    for name in ("apache-flink", "flink-agents", "flink-agents-subagent"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
