"""PF9: memory and threads of the process while a job runs for long at half of what it can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyflink.java_gateway import get_gateway

from bench.flink import Window
from bench.ours.agents import DurableCallAgent
from bench.ours.runner import run
from bench.protocol import hand_in, sizes
from bench.trend import MIB, slope, steady, step
from bench.watch import Watch

_READINGS = 60
_CHECKPOINTS = {"execution.checkpointing.interval": "5 s"}


def main(minutes: int, warm_up: int, inputs: int, keys: int) -> None:
    """See how much the job can do, then have it do half of that, in the same JVM."""
    full = run(DurableCallAgent(), Window(warm_up, inputs, keys), settings=_CHECKPOINTS)
    per_second = round(full["inputs"] / full["seconds"] / 2)
    with Watch(_look, every_s=60 * minutes / _READINGS) as watch:
        # Behind one input, so that the window is all of the run.
        window = Window(1, per_second * 60 * minutes, keys)
        run(DurableCallAgent(), window, settings=_CHECKPOINTS, per_second=per_second)
    hand_in({"per_second": per_second} | _figures(watch.readings) | {"readings": watch.readings})


def _look() -> tuple[float, ...]:
    """Return threads, RSS and live heap of the JVM that the job runs in, behind a collection."""
    jvm = get_gateway().jvm
    jvm.System.gc()
    heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    status = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/status").read_text(encoding="ascii")
    threads, rss_kib = (int(status.partition(name)[2].split(maxsplit=1)[0]) for name in ("Threads:", "VmRSS:"))
    return threads, rss_kib * 1024, heap


def _figures(readings: Sequence[Sequence[float]]) -> dict[str, Any]:
    early, late = readings[: len(readings) // 2], readings[len(readings) // 2 :]
    return {
        "watched_minutes": readings[-1][0] / 60,
        "threads_added": step([threads for _, threads, *_ in steady(readings)]),
        "mib_per_minute": _mib_per_minute(steady(readings)),
        "mib_per_minute_early": _mib_per_minute(early),
        "mib_per_minute_late": _mib_per_minute(late),
        "late_beyond_early": _mib_per_minute(late) - _mib_per_minute(early),
    }


def _mib_per_minute(readings: Sequence[Sequence[float]]) -> float:
    kept = [(rss + heap) / MIB for _, _, rss, heap in readings]
    return slope([seconds / 60 for seconds, *_ in readings], kept)


if __name__ == "__main__":
    main(**sizes())
