"""Journals that were found in the store but belong to no restored run: they wait for their input to come back (E4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flink_agents_subagent._engine.record import Record

__all__ = ["UnclaimedJournal", "UnclaimedJournals"]


@dataclass(frozen=True, slots=True)
class UnclaimedJournal:
    """A journal that waits for its input."""

    run_number: int
    records: tuple[Record, ...]
    """Contiguous, the first one with its head."""
    restored_ms: int = 0
    """Engine time of the restore, from which the retention counts: an outage does not use it up."""

    @property
    def started_ms(self) -> int:
        """The start time of the run that wrote it."""
        head = self.records[0].head
        return 0 if head is None else head.started_ms

    @property
    def input_fingerprint(self) -> bytes:
        """The fingerprint of the input that wrote it."""
        head = self.records[0].head
        return b"" if head is None else head.input_fingerprint


class UnclaimedJournals:
    """The unclaimed journals of a subtask, by key, oldest run first."""

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[bytes, list[UnclaimedJournal]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_key.values()))

    def add(self, key: bytes, journal: UnclaimedJournal) -> None:
        """Keep a journal until it is claimed or expires."""
        journals = self._by_key.setdefault(key, [])
        journals.append(journal)
        journals.sort(key=lambda kept: kept.run_number)

    def of(self, key: bytes) -> list[UnclaimedJournal]:
        """Return the journals of a key, oldest run first."""
        return self._by_key.get(key, [])

    def __iter__(self) -> Iterator[bytes]:
        """Go through the keys that have unclaimed journals."""
        return iter(self._by_key)

    def claim(self, key: bytes, input_fingerprint: bytes) -> UnclaimedJournal | None:
        """Take the oldest journal of a key that the same input wrote; identical inputs claim in turn."""
        for journal in self.of(key):
            if journal.input_fingerprint == input_fingerprint:
                self._remove(key, journal)
                return journal
        return None

    def earliest_restored_ms(self) -> int | None:
        """Return when the journal that expires first was restored, None when there is no journal."""
        return min((journal.restored_ms for kept in self._by_key.values() for journal in kept), default=None)

    def expire(self, restored_until_ms: int) -> list[tuple[bytes, UnclaimedJournal]]:
        """Take out and return the journals that were restored at this time or before."""
        expired = [
            (key, journal)
            for key, journals in self._by_key.items()
            for journal in journals
            if journal.restored_ms <= restored_until_ms
        ]
        for key, journal in expired:
            self._remove(key, journal)
        return expired

    def _remove(self, key: bytes, journal: UnclaimedJournal) -> None:
        journals = self._by_key[key]
        journals.remove(journal)
        if not journals:
            del self._by_key[key]
