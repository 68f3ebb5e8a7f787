"""The engine's deadlines: one heap per subtask behind the host's one timer (E2.3). Knows no runs and no calls."""

from __future__ import annotations

import heapq
from collections.abc import Callable

__all__ = ["Deadline", "Deadlines"]

_FEW = 64


class Deadline:
    """Something to do at an engine time."""

    __slots__ = ("action", "is_cancelled", "number", "when_ms")

    def __init__(self, when_ms: int, number: int, action: Callable[[], None]) -> None:
        self.when_ms = when_ms
        self.number = number
        self.action = action
        self.is_cancelled = False

    def __lt__(self, other: Deadline) -> bool:
        return (self.when_ms, self.number) < (other.when_ms, other.number)


def _nothing() -> None:
    """Stand in for the action of a cancelled deadline."""


class Deadlines:
    """A heap of deadlines that fire in order of time, then of creation.

    Guarantee: adding and cancelling cost O(log n) amortised, however many are cancelled.
    Thread: task thread.
    """

    __slots__ = ("_cancelled", "_created", "_heap", "_requested_ms")

    def __init__(self) -> None:
        self._heap: list[Deadline] = []
        self._created = 0
        self._cancelled = 0
        self._requested_ms: int | None = None

    def __len__(self) -> int:
        return len(self._heap) - self._cancelled

    def add(self, when_ms: int, action: Callable[[], None]) -> Deadline:
        """Have `action` called once the engine time is `when_ms` or later."""
        self._created += 1
        deadline = Deadline(when_ms, self._created, action)
        heapq.heappush(self._heap, deadline)
        return deadline

    def cancel(self, deadline: Deadline) -> None:
        """Forget a deadline; one that has fired or was cancelled stays as it is."""
        if deadline.is_cancelled:
            return
        deadline.is_cancelled = True
        # What it would have done must not be kept alive until its time comes.
        deadline.action = _nothing
        self._cancelled += 1
        # Calls that end in time leave their timeout behind: without this the heap would hold an hour of them.
        if self._cancelled > _FEW and self._cancelled * 2 > len(self._heap):
            self._heap = [kept for kept in self._heap if not kept.is_cancelled]
            heapq.heapify(self._heap)
            self._cancelled = 0

    def pop_due(self, now_ms: int) -> Deadline | None:
        """Take out the next deadline that is due, None when there is none."""
        self._drop_cancelled()
        if not self._heap or self._heap[0].when_ms > now_ms:
            return None
        deadline = heapq.heappop(self._heap)
        deadline.is_cancelled = True
        return deadline

    def fired(self, now_ms: int) -> None:
        """Note that the host's timer fired, so that the next one has to be asked for again."""
        if self._requested_ms is not None and self._requested_ms <= now_ms:
            self._requested_ms = None

    def take_request(self) -> int | None:
        """Return the time for which the host must set its timer, None when the timer that it has is early enough."""
        if self._heap and self._heap[0].is_cancelled:
            self._drop_cancelled()
        if not self._heap:
            return None
        earliest = self._heap[0].when_ms
        if self._requested_ms is not None and self._requested_ms <= earliest:
            return None
        self._requested_ms = earliest
        return earliest

    def _drop_cancelled(self) -> None:
        heap = self._heap
        while heap and heap[0].is_cancelled:
            heapq.heappop(heap)
            self._cancelled -= 1
