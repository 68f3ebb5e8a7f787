"""The journal of one run: numbering, what waits for the store, what is still to be replayed. Knows no execution."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from flink_agents_subagent._engine.record import Address, Kind, Record, surviving

__all__ = ["Journal"]

# A parked run mostly has nothing to deliver and no marker. An empty deque takes 600 bytes, an empty set 200.
_NOTHING: deque[Record] = deque(maxlen=0)
_NO_MARKERS: AbstractSet[tuple[Address, str]] = frozenset()


class Journal:
    """The records of one run, in order, and how far they have been delivered.

    Invariants: `records` holds what a later replay must see, undelivered records included; `replay` and `awaiting` hold the
    undelivered ones, restored and live; every record of `replay` comes before every record of `awaiting`.
    """

    __slots__ = (
        "_last_number",
        "_new_markers",
        "awaiting",
        "head",
        "markers",
        "records",
        "replay",
        "run_number",
        "unpatched",
    )

    def __init__(
        self, run_number: int, records: Sequence[Record] = (), markers: Iterable[tuple[Address, str]] = ()
    ) -> None:
        """Continue a journal; `markers` are those that no record carries yet."""
        self.run_number = run_number
        self.records: list[Record] = surviving(records) if records else []
        self.replay = deque(self.records) if self.records else _NOTHING
        self.awaiting = _NOTHING
        self.head = self.records[0].head if self.records else None
        """What the first record says of the run; None as long as there is no record."""
        self._last_number = self.records[-1].number if self.records else 0
        self._new_markers = list(markers)
        self.markers = self._passed_markers() if records or markers else _NO_MARKERS
        self.unpatched = _NO_MARKERS
        """Patch points at which this life of the run went the old way."""

    @property
    def is_replaying(self) -> bool:
        """Whether a recorded fact is still to be delivered."""
        self._drop_taken()
        return bool(self.replay)

    def append(self, record: Record) -> None:
        """Number a record and put it behind all others."""
        self._last_number += 1
        record.number = self._last_number
        if self._new_markers:
            record.markers = tuple(self._new_markers)
            self._new_markers.clear()
        self.records.append(record)
        if not self.awaiting:
            self.awaiting = deque()
        self.awaiting.append(record)

    def next_replayed(self) -> Record | None:
        """Take the next restored record, None while the store has not acknowledged one that was appended again."""
        return self.replay.popleft() if self.replay[0].is_acknowledged else None

    def next_acknowledged(self) -> Record | None:
        """Take the next record whose turn of delivery has come, None while the store has not acknowledged it (E2.2)."""
        awaiting = self.awaiting
        if not awaiting or not awaiting[0].is_acknowledged:
            return None
        record = awaiting.popleft()
        if not awaiting:
            self.awaiting = _NOTHING
        return record

    def find(self, kind: Kind, execution: Address, slot: int) -> Record | None:
        """Return an undelivered record of this kind for a slot, None when there is none."""
        self._drop_taken()
        for record in self.replay:
            if record.execution == execution and record.slot == slot and record.kind == kind:
                return record
        return None

    def _drop_taken(self) -> None:
        """Pass over the records whose turn of delivery is skipped: a `def` action of many calls must not look at all of them each time."""
        replay = self.replay
        while replay and replay[0].is_taken:
            replay.popleft()

    def discard_from(self, number: int) -> None:
        """Forget every replayed record from this number on (E3.7)."""
        self.records = [record for record in self.records if record.number < number]
        self.replay = deque(record for record in self.replay if record.number < number)
        self.markers = self._passed_markers()

    def add_marker(self, marker: tuple[Address, str]) -> None:
        """Note that an execution passed a patch point; the next record carries it (E3.8)."""
        self._new_markers.append(marker)
        self.markers |= {marker}

    def leave_unpatched(self, marker: tuple[Address, str]) -> None:
        """Note that this life of the run goes the old way at a patch point."""
        self.unpatched |= {marker}

    def new_markers(self) -> Iterator[tuple[Address, str]]:
        """Return the markers that no record carries yet."""
        return iter(self._new_markers)

    def _passed_markers(self) -> AbstractSet[tuple[Address, str]]:
        if not self.records and not self._new_markers:
            return _NO_MARKERS
        markers = {marker for record in self.records for marker in record.markers}
        return markers.union(self._new_markers) or _NO_MARKERS
