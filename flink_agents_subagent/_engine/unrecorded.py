"""Runs that took a number and left no record: what a later journal of their key says of them (decision 0002)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["UnrecordedRun", "UnrecordedRuns"]

_MAX_OF_KEY = 256
_MAX_RUNS = 100_000


class UnrecordedRun(NamedTuple):
    """A run that ended without a record."""

    run_number: int
    started_ms: int
    input_fingerprint: bytes


class UnrecordedRuns:
    """The runs of a subtask that ended without a record since the snapshot before the last, by key.

    Bounded, the oldest are forgotten: a restore then does not give them back their time, and may have to find out by trying
    whether a journal is that of an identical input.
    """

    __slots__ = ("_earlier", "_now", "_size")

    def __init__(self) -> None:
        self._now: dict[bytes, list[UnrecordedRun]] = {}
        self._earlier: dict[bytes, list[UnrecordedRun]] = {}
        self._size = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is none of any key."""
        return not self._now and not self._earlier

    def add(self, key: bytes, run: UnrecordedRun) -> None:
        """Note that a run of a key ended."""
        runs = self._now.setdefault(key, [])
        runs.append(run)
        if len(runs) > _MAX_OF_KEY:
            del runs[0]
            return
        self._size += 1
        if self._size > _MAX_RUNS:
            self._size -= len(self._now.pop(next(iter(self._now))))

    def take(self, key: bytes, most: int) -> Sequence[UnrecordedRun]:
        """Return the last runs of a key, oldest first, and forget them all: a journal says from now on that they were."""
        runs = self._now.pop(key, [])
        self._size -= len(runs)
        found = self._earlier.pop(key, []) + runs
        return found[-min(most, _MAX_OF_KEY) :] if most else ()

    def snapshot_taken(self) -> None:
        """Forget the runs that a restore of either of the last two checkpoints does not bring back."""
        self._earlier, self._now, self._size = self._now, {}, 0
