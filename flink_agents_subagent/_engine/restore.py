"""Puts checkpoint entries and the tail of the store together (E4.2–E4.4). Starts no run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flink_agents_subagent._engine.checkpoint import KeyEntry
from flink_agents_subagent._engine.record import Record, decode_record, surviving
from flink_agents_subagent._engine.unclaimed import UnclaimedJournal
from flink_agents_subagent.errors import StoreCorruptError

__all__ = ["Restorer"]


class Restorer:
    """Collects what a restore brings, in any order, and gives it back by key.

    Guarantee: a journal ends at the first gap in its record numbers (S1.2); a record that is there twice counts once (S1.3).
    """

    def __init__(self) -> None:
        self._entries: dict[bytes, KeyEntry] = {}
        self._tail: dict[bytes, dict[int, dict[int, bytes]]] = {}

    def add_entry(self, key: bytes, entry: KeyEntry) -> None:
        """Take the checkpoint entry of a key."""
        self._entries[key] = entry

    def add_record(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Take a record of the store's tail."""
        self._tail.setdefault(key, {}).setdefault(run_number, {})[record_number] = payload

    def keys(self, run_number: Callable[[bytes], int]) -> Iterator[tuple[bytes, KeyEntry, int]]:
        """Return, by key, what is restored, and the highest run number in the tail that no journal stands for (0: none).

        Args:
            run_number: Gives the highest run number of a key in the checkpoint.
        """
        for key in dict.fromkeys([*self._entries, *self._tail]):
            entry = self._entries.get(key) or KeyEntry()
            tail = self._tail.get(key, {})
            journals = {journal.run_number: journal for journal in entry.unclaimed}
            for number in sorted(tail):
                self._extend(entry, journals, number, tail[number])
            _add_unrecorded(journals, run_number(key))
            entry.unclaimed = [journals[number] for number in sorted(journals)]
            highest = max((number for number in tail if number not in journals), default=0)
            yield key, entry, highest

    def _extend(
        self, entry: KeyEntry, journals: dict[int, UnclaimedJournal], run_number: int, tail: dict[int, bytes]
    ) -> None:
        run = entry.run
        if run is not None and run.run_number == run_number:
            # Records of a run are durable in order: one that is behind the barrier proves those before it.
            proven = max(tail)
            for record in run.records:
                record.is_acknowledged = record.is_acknowledged or record.number <= proven
            run.records = _continued(run.records, run_number, tail)
            return
        known = journals.get(run_number)
        records = _continued([] if known is None else list(known.records), run_number, tail)
        # Without its first record it is the rest of a run that had ended before the barrier.
        if records:
            journals[run_number] = _journal(run_number, records)


def _continued(records: list[Record], run_number: int, tail: dict[int, bytes]) -> list[Record]:
    number = records[-1].number + 1 if records else 1
    found = list(records)
    while (payload := tail.get(number)) is not None:
        found.append(decode_record(number, payload, f"record {number} of run {run_number} in the store"))
        number += 1
    return surviving(found)


def _journal(run_number: int, records: list[Record]) -> UnclaimedJournal:
    head = records[0].head
    if head is None:
        raise StoreCorruptError(
            f"the first record of run {run_number} in the store does not say which input it belongs to"
        )
    return UnclaimedJournal(run_number, tuple(records), head.started_ms, head.input_fingerprint)


def _add_unrecorded(journals: dict[int, UnclaimedJournal], last_number: int) -> None:
    """Let the runs that left no record wait for their inputs too, as far as a journal behind them says that they were."""
    heads = [journal.records[0].head for journal in journals.values() if journal.records]
    for run in (run for head in heads if head is not None for run in head.unrecorded):
        if run.run_number > last_number:
            journals.setdefault(run.run_number, UnclaimedJournal(run.run_number, (), *run[1:]))
