"""S2.5: the size of the store's topic while a job makes very many durable calls and completes checkpoints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import final

from bench.flink import Window
from bench.ours.agents import DurableCallAgent
from bench.ours.runner import kafka_store, run
from bench.protocol import BROKER_DATA_VARIABLE, hand_in, sizes
from bench.trend import MIB
from bench.watch import Watch

_IDENTIFIER = "size"
_STARTS, _ENDS = "log-start-offset-checkpoint", "replication-offset-checkpoint"
"""Files in which the broker notes, every second here, where the log of each partition begins and ends."""


def main(calls: int, keys: int, partitions: int, checkpoint_ms: int) -> None:
    """Run the job and look at the broker's folder every second."""
    store = kafka_store(
        **{
            "job-identifier": _IDENTIFIER,
            "store.kafka.partitions": str(partitions),
            # A broker deletes whole segments only, and never the one that is being written. With records of 64 KiB at most, those
            # of 1 MiB are possible, of which there are many in this run.
            "store.kafka.topic-properties.segment.bytes": str(MIB),
            "journal.max-record-bytes": "64 KiB",
        }
    )
    checkpoints = {"execution.checkpointing.interval": f"{checkpoint_ms} ms"}
    # The rate is that of the second half, so that the window has a beginning.
    window = Window(calls // 2, calls - calls // 2, keys)
    with Watch(Disk().look, every_s=1) as watch:
        figures = run(DurableCallAgent(), window, options=store, settings=checkpoints)
    hand_in(_figures(watch.readings) | {"readings": watch.readings} | figures)


@final
class Disk:
    """The broker's folder, with every segment that was ever seen in it."""

    def __init__(self) -> None:
        self._data = Path(os.environ[BROKER_DATA_VARIABLE])
        self._largest: dict[str, int] = {}

    def look(self) -> tuple[float, ...]:
        """Return what lies there and what was ever seen there, in bytes; where the logs begin and end, in records."""
        on_disk = 0
        for segment in self._data.glob(f"*.{_IDENTIFIER}.*/*.log*"):
            try:
                size = segment.stat().st_size
            except FileNotFoundError:
                # The broker renames and deletes while we look.
                continue
            # Those included that are marked as deleted and not gone yet.
            on_disk += size
            name = f"{segment.parent.name}/{segment.name.removesuffix('.deleted')}"
            self._largest[name] = max(size, self._largest.get(name, 0))
        appended = sum(self._largest.values())
        return on_disk, appended, _offsets(self._data / _STARTS), _offsets(self._data / _ENDS)


def _offsets(checkpoint: Path) -> int:
    """Sum up the offsets that the broker has noted for our topic; lines are "topic partition offset"."""
    lines = checkpoint.read_text(encoding="ascii").splitlines() if checkpoint.exists() else []
    return sum(int(line.split()[2]) for line in lines if f".{_IDENTIFIER}." in line)


def _figures(readings: list[list[float]]) -> dict[str, float]:
    half = len(readings) // 2
    peaks = [max(size for _, size, *_ in part) for part in (readings[:half], readings[half:])]
    _, _, appended, last_start, last_end = readings[-1]
    return {
        "records": last_end,
        "appended_mib": appended / MIB,
        "released_share": last_start / last_end,
        "tail_records_at_most": max(end - start for *_, start, end in readings),
        "disk_mib_at_most": max(peaks) / MIB,
        "disk_by_appended": max(peaks) / appended,
        "disk_growth": peaks[1] / peaks[0],
    }


if __name__ == "__main__":
    main(**sizes())
