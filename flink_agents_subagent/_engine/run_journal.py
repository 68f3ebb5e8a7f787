"""What is recorded of one run: its number, its time, its input's fingerprint, its records (E2.3, E4.4, E5.2).

Numbers and times records and hands them to the store; must not know what executions do with what is delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.checkpoint import RunEntry
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.encoding import input_fingerprint
from flink_agents_subagent._engine.execution import Mismatch
from flink_agents_subagent._engine.identity import RunIdentity, execution_digest
from flink_agents_subagent._engine.journal import Journal
from flink_agents_subagent._engine.record import Address, JournalHead, Record
from flink_agents_subagent._engine.unclaimed import UnclaimedJournal
from flink_agents_subagent._engine.unrecorded import UnrecordedRun
from flink_agents_subagent.errors import EncodingError

if TYPE_CHECKING:
    from flink_agents_subagent._engine.execution import Execution
    from flink_agents_subagent._engine.run import Run

__all__ = ["RunJournal"]

_HEADER_BYTES = 1024
"""More than a record has beside its value and the runs that it names, unless its function has a very long name."""
_RUN_BYTES = 64
"""More than naming a run takes."""


class RunJournal:
    """The recorded side of a run; the clock of its loops.

    Guarantee: a run that needs nothing recorded has no number and leaves nothing behind (E4.6). The first need of a call, a
        timer, the time or an id gives it the next number of its key, or an unclaimed journal of the same input.
    Thread: task thread.
    """

    __slots__ = (
        "_core",
        "_doubtful",
        "_fingerprint",
        "_has_returned",
        "_run",
        "_started_ms",
        "clock_ms",
        "records",
        "started_ms",
    )

    def __init__(self, run: Run, started_ms: int) -> None:
        self._run = run
        self._core: EngineCore = run.core
        self._fingerprint: bytes | None = None
        self._started_ms = self.clock_ms = self.started_ms = started_ms
        self._doubtful: UnclaimedJournal | None = None
        """The journal that the run claimed, if the run of an identical input could be meant and no record of it was used yet."""
        self._has_returned = False
        self.records: Journal | None = None
        """None as long as nothing needed it."""

    def restore(self, entry: RunEntry) -> None:
        """Take what a checkpoint and the tail of the store say."""
        self._fingerprint = entry.input_fingerprint
        if entry.run_number is not None:
            self.records = Journal(entry.run_number, entry.records, entry.markers)
            self._append_again(entry.records)

    @property
    def number_text(self) -> str:
        """The run's number for messages."""
        return "without number" if self.records is None else str(self.records.run_number)

    @property
    def known_number(self) -> int | None:
        """The run's number if something needed it."""
        return None if self.records is None else self.records.run_number

    @property
    def known_fingerprint(self) -> bytes | None:
        """The input's fingerprint if something needed it."""
        return self._fingerprint

    # Identity

    def need(self) -> Journal:
        """Return the records; the first need claims or numbers them (E4.4)."""
        if self.records is None:
            self.records = self._claim() or self._next()
            self._run.is_dirty = True
        return self.records

    def need_for_call(self) -> None:
        """Make sure that a call's outcome can be recorded before the call is made."""
        if self.records is None:
            self.need()
        if self._fingerprint is None:
            self.fingerprint()

    def fingerprint(self) -> bytes:
        """Return the fingerprint of the input as it arrived, whatever an action did to the object since."""
        if self._fingerprint is not None:
            return self._fingerprint
        try:
            return self._told_apart()
        except EncodingError as error:
            self._core.fail(error)

    def _told_apart(self) -> bytes:
        if self._fingerprint is None:
            self._fingerprint = input_fingerprint(self._run.decode_input())
        return self._fingerprint

    def execution_digest(self, action: str, event_ordinal: int, scope: Sequence[str | int] = ()) -> bytes:
        """Return the identity of an execution (E5.2)."""
        settings = self._core.settings
        number = self.need().run_number
        run = RunIdentity(settings.job_identifier, settings.operator_uid, self._run.key, number, self.fingerprint())
        return execution_digest(run, action, event_ordinal, scope)

    def _claim(self) -> Journal | None:
        core, key = self._core, self._run.key
        if not core.unclaimed.has(key) or self._has_returned:
            return None
        try:
            claimed = core.unclaimed.claim(key, self._told_apart())
        except EncodingError:
            # Such an input has no journal. Whether that is a fault depends on what the run needs.
            return None
        if claimed is None:
            return None
        if claimed.records and core.unclaimed.free_number(key, core.run_number(key)) < claimed.run_number:
            self._doubtful = claimed
        else:
            core.use_run_number(key, claimed.run_number)
        core.count(metric.UNCLAIMED_JOURNALS, "", -1)
        self.clock_ms = self.started_ms = claimed.started_ms
        return Journal(claimed.run_number, claimed.records)

    def _next(self) -> Journal:
        return Journal(self._core.next_run_number(self._run.key))

    def _unrecorded_before(self, record: Record) -> Sequence[UnrecordedRun]:
        """Return the runs that the first record of this one has to name."""
        return self._core.unrecorded.take(self._run.key, self._room_in(record))

    def _room_in(self, record: Record) -> int:
        """Return how many runs a record can name: a quarter of its limit at most, and never what its value needs."""
        limit = self._core.settings.max_record_bytes
        return max(0, min(limit // 4, limit - len(record.value) - _HEADER_BYTES)) // _RUN_BYTES

    def end(self) -> None:
        """Remember the run if nothing else does: it has a number and no record."""
        records = self.records
        if records is None or records.head is not None:
            return
        # An input without a fingerprint cannot be told from others, and has no use for its number either.
        with suppress(EncodingError):
            run = UnrecordedRun(records.run_number, self.started_ms, self._told_apart())
            self._core.unrecorded.add(self._run.key, run)

    @property
    def is_doubtful(self) -> bool:
        """Whether the run has an identical input's journal, for all that is known: it has used no record of it yet."""
        return self._doubtful is not None

    def give_back(self) -> None:
        """Let the journal wait for another input after all: this one began its run anew, and needs none (decision 0002)."""
        if self._doubtful is not None:
            self._core.unclaimed.add(self._run.key, self._doubtful)
            self._core.count(metric.UNCLAIMED_JOURNALS)
        self._doubtful, self._has_returned = None, True
        self.records = None
        self.clock_ms = self.started_ms = self._started_ms

    def _trust(self) -> None:
        self._doubtful = None
        self._core.use_run_number(self._run.key, self.need().run_number)

    # Time

    def read_clock(self) -> int:
        """Return the run's time; asking for it is a need of the journal, whose start time is then the run's."""
        if self.records is None:
            self.need()
        return self.clock_ms

    def move_clock(self, time_ms: int) -> None:
        """Let the run's time be that of a delivered record (E2.3)."""
        self.clock_ms = max(self.clock_ms, time_ms)

    # Records

    def append(self, record: Record, name: Callable[[], str]) -> None:
        """Hand a record to the store; it is delivered in its turn, after its acknowledgement (E2.2)."""
        core, run = self._core, self._run
        number = self._number(record)
        core.append(run, core.make_append(run.key, number, record, name), record)

    def commit(self, record: Record, name: Callable[[], str]) -> None:
        """Make a record durable before returning; the caller has it, so that its turn of delivery is skipped (E3.16)."""
        number = self._number(record)
        self._core.commit(self._run, self._core.make_append(self._run.key, number, record, name), name)
        record.is_acknowledged = True
        record.is_taken = True
        self.move_clock(record.time_ms)

    def take(self, record: Record) -> None:
        """Give a replayed record to a `def` action; its turn of delivery is skipped (decision 0001)."""
        if self._doubtful is not None:
            self._trust()
        record.is_taken = True
        self.move_clock(record.time_ms)

    def take_all(self, execution: Address) -> list[int]:
        """Give all its replayed records to a `def` action that does not run again; returns their numbers."""
        records = [record for record in self._replay() if record.execution == execution]
        for record in records:
            self.take(record)
        return [record.number for record in records]

    def take_numbers(self, numbers: Sequence[int]) -> None:
        """Give these replayed records to `def` actions of a sub-agent call that does not run again."""
        for record in [record for record in self._replay() if record.number in numbers] if numbers else ():
            self.take(record)

    def kept(self, is_done: Sequence[bool], is_needed: Callable[[Address], bool]) -> list[Record]:
        """Return the records as a checkpoint keeps them: what only a finished execution got is not needed, once the store has it.

        Args:
            is_done: By ordinal, for the executions of the run itself.
            is_needed: Tells of one within a sub-agent call whether it may have to run again.
        """
        return [
            record.stub()
            if record.kind != "r"
            and record.is_acknowledged
            and (is_done[place] if type(place := record.execution) is int else not is_needed(place))
            else record
            for record in (() if self.records is None else self.records.records)
        ]

    @property
    def is_replaying(self) -> bool:
        """Whether a recorded fact is still to be delivered."""
        return self.records is not None and self.records.is_replaying

    def unexpected(self, find: Callable[[Address], Execution | None], prefix: str = "") -> Record | None:
        """Return the first record that is still to be replayed and for which there is no slot or timer, None when there is none.

        Args:
            find: Returns an execution, None for one that is over and takes any record; raises `Mismatch` when it was not started.
            prefix: Of the addresses to look at: all, or those within a sub-agent call.
        """
        for record in self._replay():
            if record.kind == "r" or record.is_taken or not str(record.execution).startswith(prefix):
                continue
            try:
                execution = find(record.execution)
            except Mismatch:
                return record
            if execution is not None and not execution.expects(record):
                return record
        return None

    def _replay(self) -> Iterable[Record]:
        return () if self.records is None else self.records.replay

    def _append_again(self, records: Sequence[Record]) -> None:
        """Hand to the store what it may never have got.

        A gap there would cut off what follows, for whoever restores an older checkpoint. The run goes on from each of them as in its first
        life, once it is acknowledged. Those of `def` actions are never among them.
        """
        for record in records:
            if not record.is_acknowledged:
                append = self._core.make_append(
                    self._run.key, self.need().run_number, record, lambda: "a replayed record"
                )
                self._core.append(self._run, append, record)

    def next_record(self) -> Record | None:
        """Take the record whose turn of delivery has come: replayed ones first, then those that the store acknowledged."""
        records = self.records
        if records is None:
            return None
        if self._doubtful is not None:
            self._trust()
        if records.replay:
            return records.next_replayed()
        return records.next_acknowledged() if records.awaiting else None

    @property
    def waits_for_store(self) -> bool:
        """Whether the next replayed record has to be acknowledged first, because it was appended again."""
        return self.records is not None and bool(self.records.replay)

    def reset_from(self, number: int | None) -> None:
        """Discard the replayed records from this number on, by default all that are left (E3.7)."""
        records = self.records
        if records is None or (number is None and not records.replay):
            return
        first = records.replay[0].number if number is None else number
        records.discard_from(first)
        self.append(Record("r", discards_from=first), lambda: "a reset")

    def patched(self, execution: Address, change_id: str) -> bool:
        """See `RunnerContext.patched` (E3.8)."""
        records, marker = self.need(), (execution, change_id)
        if marker in records.markers:
            return True
        if records.is_replaying:
            # What was not patched at its first passing stays so for the rest of the run.
            records.leave_unpatched(marker)
        if marker in records.unpatched:
            return False
        records.add_marker(marker)
        self._run.is_dirty = True
        return True

    def _number(self, record: Record) -> int:
        records = self.records or self.need()
        if self._doubtful is not None:
            self._trust()
        record.time_ms = self._core.now_ms
        if records.head is None:
            unrecorded = () if self._core.unrecorded.is_empty else self._unrecorded_before(record)
            record.head = records.head = JournalHead(self.fingerprint(), self.started_ms, unrecorded)
        elif record.kind == "r":
            # A reset may discard the record that had the head.
            record.head = records.head
        records.append(record)
        self._run.is_dirty = True
        return records.run_number
