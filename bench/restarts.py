"""A job that fails again and again, and what that leaves in its process. Knows nothing of what the job does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyflink.datastream import DataStream
from pyflink.java_gateway import get_gateway

from bench.flink import Window, environment, inputs, java, operators
from bench.protocol import left_file
from bench.trend import MIB, slope, step

_PER_SECOND = 300
"""Few enough that no input is left over from attempt to attempt, also on a slow machine."""
_FLINK = {
    "execution.checkpointing.interval": "200 ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.delay": "10 ms",
}


def growth(
    work: Callable[[DataStream], DataStream],
    warm_up: int,
    restarts: int,
    outputs: int,
    settings: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a job and return what its restarts add to the process.

    Args:
        work: Puts the measured operators behind the inputs.
        warm_up: Restarts that do not count: compilers, caches and pools fill.
        restarts: Those that count, behind them.
        outputs: How many every attempt has at least; it also completes a checkpoint.
        settings: Of Flink, over those above.

    Raises:
        RuntimeError: The job did not restart as often as it was to.
    """
    total = warm_up + restarts
    readings = left_file("restarts")
    env = environment({**_FLINK, **(settings or {}), "restart-strategy.fixed-delay.attempts": str(total)})
    emitted = java(work(inputs(env, Window(warm_up=0, inputs=2**31), _PER_SECOND)))
    failing = emitted.map(operators().Restarts(str(readings), outputs)).returns(emitted.getType())
    failing.sinkTo(get_gateway().jvm.org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink())
    try:
        # The last attempt fails, too, and with it the job.
        env.execute("bench")
    except Py4JJavaError as error:
        found = _read(readings)
        if len(found) != total + 1:
            raise RuntimeError(f"{len(found)} attempts came to their end instead of {total + 1}") from error
        return {"restarts": restarts, "readings": found} | _figures(found[warm_up:])
    raise RuntimeError("the job came to its end instead of failing")


def _read(readings: Path) -> list[list[float]]:
    lines = readings.read_text(encoding="ascii").splitlines() if readings.exists() else []
    return [[float(value) for value in line.split(",")] for line in lines]


def _figures(found: Sequence[Sequence[float]]) -> dict[str, float]:
    attempts, threads, rss, heap, classes, code = zip(*found, strict=True)
    return {
        "threads": threads[-1],
        "threads_added": step(threads),
        "rss_mib_per_restart": slope(attempts, rss) / MIB,
        "heap_mib_per_restart": slope(attempts, heap) / MIB,
        "classes_mib_per_restart": slope(attempts, classes) / MIB,
        "code_mib_per_restart": slope(attempts, code) / MIB,
    }
