"""Journals that were found in the store but belong to no restored run: they wait for their input to come back (E4.4)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass

from flink_agents_subagent._engine.record import Record

__all__ = ["UnclaimedJournal", "UnclaimedJournals"]


@dataclass(frozen=True, slots=True)
class UnclaimedJournal:
    """A journal that waits for its input."""

    run_number: int
    records: tuple[Record, ...]
    """Contiguous, the first one with its head; none of a run that is known by a later journal only (decision 0002)."""
    started_ms: int
    """The start time of the run that wrote it."""
    input_fingerprint: bytes
    """The fingerprint of the input that wrote it."""
    restored_ms: int = 0
    """Engine time of the restore, from which the retention counts: an outage does not use it up."""


class _OfKey:
    """The journals of one key."""

    __slots__ = ("by_input", "by_number")

    def __init__(self) -> None:
        self.by_number: dict[int, UnclaimedJournal] = {}
        self.by_input: dict[bytes, list[int]] = {}
        """Run numbers by the fingerprint of the input, lowest first."""


class UnclaimedJournals:
    """The unclaimed journals of a subtask, by key."""

    __slots__ = ("_by_key", "_changed")

    def __init__(self) -> None:
        self._by_key: dict[bytes, _OfKey] = {}
        self._changed: set[bytes] = set()

    def __len__(self) -> int:
        return sum(len(kept.by_number) for kept in self._by_key.values())

    def __iter__(self) -> Iterator[bytes]:
        """Go through the keys that have unclaimed journals."""
        return iter(self._by_key)

    def has(self, key: bytes) -> bool:
        """Tell whether a key has any."""
        return key in self._by_key

    def of(self, key: bytes) -> list[UnclaimedJournal]:
        """Return the journals of a key, oldest run first."""
        kept = self._by_key.get(key)
        return [] if kept is None else [kept.by_number[number] for number in sorted(kept.by_number)]

    def free_number(self, key: bytes, above: int) -> int:
        """Return the lowest run number above a given one that no journal of the key has."""
        kept = self._by_key.get(key)
        number = above + 1
        while kept is not None and number in kept.by_number:
            number += 1
        return number

    def take_changed(self) -> set[bytes]:
        """Return the keys whose journals have changed since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def add(self, key: bytes, journal: UnclaimedJournal) -> None:
        """Keep a journal until it is claimed or expires."""
        kept = self._by_key.setdefault(key, _OfKey())
        kept.by_number[journal.run_number] = journal
        insort(kept.by_input.setdefault(journal.input_fingerprint, []), journal.run_number)
        self._changed.add(key)

    def claim(self, key: bytes, input_fingerprint: bytes) -> UnclaimedJournal | None:
        """Take the oldest journal of a key that the same input wrote; identical inputs claim in turn."""
        kept = self._by_key.get(key)
        numbers = None if kept is None else kept.by_input.get(input_fingerprint)
        if kept is None or numbers is None:
            return None
        journal = kept.by_number[numbers[0]]
        self._remove(key, journal)
        return journal

    def earliest_restored_ms(self) -> int | None:
        """Return when the journal that expires first was restored, None when there is no journal."""
        times = (journal.restored_ms for kept in self._by_key.values() for journal in kept.by_number.values())
        return min(times, default=None)

    def expire(self, restored_until_ms: int) -> list[tuple[bytes, UnclaimedJournal]]:
        """Take out and return the journals that were restored at this time or before."""
        expired = [
            (key, journal)
            for key, kept in self._by_key.items()
            for journal in kept.by_number.values()
            if journal.restored_ms <= restored_until_ms
        ]
        for key, journal in expired:
            self._remove(key, journal)
        return expired

    def _remove(self, key: bytes, journal: UnclaimedJournal) -> None:
        kept = self._by_key[key]
        del kept.by_number[journal.run_number]
        numbers = kept.by_input[journal.input_fingerprint]
        numbers.remove(journal.run_number)
        if not numbers:
            del kept.by_input[journal.input_fingerprint]
        if not kept.by_number:
            del self._by_key[key]
        self._changed.add(key)
