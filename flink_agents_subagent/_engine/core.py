"""What all parts of one engine share: effects, time, ports, codec, faults. Must not know what runs and calls do."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, NoReturn

from flink_agents_subagent._engine.deadlines import Deadlines
from flink_agents_subagent._engine.effects import (
    Append,
    Effect,
    EnginePorts,
    FailTask,
    SetTimer,
    WriteMemory,
    WriteRunNumber,
)
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.faults import EngineStopped
from flink_agents_subagent._engine.meter import Meter
from flink_agents_subagent._engine.record import Record, encode_record
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._engine.unclaimed import UnclaimedJournals
from flink_agents_subagent._engine.unrecorded import UnrecordedRuns
from flink_agents_subagent._plan.compiled import CompiledAgent
from flink_agents_subagent.errors import EngineError, RecordTooLargeError, StoreError

if TYPE_CHECKING:
    from flink_agents_subagent._engine.calls import CallDesk
    from flink_agents_subagent._engine.direct import DirectContext
    from flink_agents_subagent._engine.event_log import EventLog
    from flink_agents_subagent._engine.execution import Execution
    from flink_agents_subagent._engine.run import Run

__all__ = ["EngineCore"]

_MAX_NUMBERS = 10_000
"""Keys whose run number is known without asking keyed state."""


class EngineCore:
    """One engine's shared state.

    Thread: task thread.
    """

    __slots__ = (
        "_memory_written",
        "_next_seq",
        "_numbers",
        "agent",
        "awaiting",
        "calls",
        "codec",
        "count",
        "current",
        "deadlines",
        "effects",
        "failure",
        "log",
        "meter",
        "now_ms",
        "observe",
        "ports",
        "settings",
        "thread",
        "types",
        "unclaimed",
        "unrecorded",
    )

    calls: CallDesk

    def __init__(self, agent: CompiledAgent, settings: EngineSettings, ports: EnginePorts) -> None:
        self.agent = agent
        self.settings = settings
        self.ports = ports
        self.types = TypeRegistry(agent.types)
        self.codec = ValueCodec(self.types, allow_pickle=settings.journal_pickle == "allow")
        self.deadlines = Deadlines()
        self.unclaimed = UnclaimedJournals()
        self.unrecorded = UnrecordedRuns()
        self.effects: list[Effect] = []
        self.meter = Meter()
        self.count = self.meter.count
        self.observe = self.meter.observe
        self.log: EventLog | None = None
        """None unless there is an event log (E7.2)."""
        self.awaiting: dict[int, tuple[Run, Record, int]] = {}
        """By sequence number: the records that the store has not acknowledged, and when they were appended."""
        self.now_ms = 0
        self.failure: BaseException | None = None
        self.current: Execution | DirectContext | None = None
        """The execution, or the context without one, whose code runs right now; its context, and no other, may be used (E3.12)."""
        self.thread = 0
        self._next_seq = 1
        # What the host has not performed yet must be visible to reads of the same command.
        self._memory_written: dict[bytes, dict[str, bytes | None]] = {}
        self._numbers: dict[bytes, int] = {}
        """Run numbers of some keys: what keyed state says once all effects are performed. Only the engine changes it."""

    # Time

    def advance(self, now_ms: int) -> None:
        """Take the time of a command; engine time never goes back, whatever the machine's clock does."""
        self.now_ms = max(self.now_ms, now_ms)

    # Faults

    def fail(self, error: BaseException) -> NoReturn:
        """Stop the engine for good and unwind."""
        if self.failure is None:
            self.failure = error
            self.effects.append(FailTask(error))
        if self.current is not None:
            self.current.halt()
        raise EngineStopped

    def check(self) -> None:
        """Unwind again when an author's code has swallowed a fault."""
        if self.failure is not None:
            raise EngineStopped

    # The author's code

    def enter(self, execution: Execution) -> None:
        """Note whose code runs from here on."""
        self.current = execution
        self.thread = get_ident()

    def leave(self) -> None:
        """Note that no author's code runs."""
        self.current = None

    # Effects

    def take_effects(self) -> list[Effect]:
        """Hand over what the host has to do."""
        deadline_ms = self.deadlines.take_request() if self.failure is None else None
        if deadline_ms is not None:
            self.effects.append(SetTimer(deadline_ms))
        effects, self.effects = self.effects, []
        if self._memory_written:
            self._memory_written = {}
        if len(self._numbers) > _MAX_NUMBERS:
            self._numbers.clear()
        return effects

    # Keyed state

    def read_memory(self, key: bytes, path: str) -> bytes | None:
        """Return an entry of keyed state as it is once all effects are performed."""
        written = self._memory_written.get(key)
        if written is not None and path in written:
            return written[path]
        return self.ports.keyed.read(key, path)

    def write_memory(self, key: bytes, entries: dict[str, bytes | None]) -> None:
        """Write entries of keyed state."""
        self._memory_written.setdefault(key, {}).update(entries)
        self.effects.append(WriteMemory(key, entries))

    def run_number(self, key: bytes) -> int:
        """Return the highest run number of a key."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self.ports.keyed.run_number(key)
        return number

    def use_run_number(self, key: bytes, number: int) -> None:
        """Keep a run number of a key, so that no lower one is given any more."""
        if number > self.run_number(key):
            self._numbers[key] = number
            self.effects.append(WriteRunNumber(key, number))

    def next_run_number(self, key: bytes) -> int:
        """Give the next run number of a key.

        Unclaimed journals keep theirs: when the inputs come back in their order, every run has the number that it had before, also
        one that left no record and is followed by one that did. An outside call in flight depends on it (E5.3).
        """
        number = self.unclaimed.free_number(key, self.run_number(key))
        self._numbers[key] = number
        self.effects.append(WriteRunNumber(key, number))
        return number

    # The store

    def make_append(self, key: bytes, run_number: int, record: Record, call: Callable[[], str]) -> Append:
        """Return a record as the store takes it.

        Args:
            key: The run's key.
            run_number: The run's number.
            record: Numbered.
            call: What is recorded, for the message.
        """
        payload = encode_record(record)
        if len(payload) > self.settings.max_record_bytes:
            self.fail(
                RecordTooLargeError(
                    f"the record of {call()} has {len(payload)} bytes, more than journal.max-record-bytes = "
                    f"{self.settings.max_record_bytes}; return less, or raise the option and the store's own limit"
                )
            )
        seq = self._next_seq
        self._next_seq += 1
        self.meter.journal_records += 1
        self.meter.journal_bytes += len(payload)
        return Append(seq, key, run_number, record.number, payload)

    def append(self, run: Run, append: Append, record: Record) -> None:
        """Hand a record to the store; its delivery follows the acknowledgement."""
        self.awaiting[append.seq] = (run, record, self.now_ms)
        self.effects.append(append)

    def commit(self, run: Run, append: Append, call: Callable[[], str]) -> None:
        """Make a record durable now, after every record of the run that the host has not been given yet (S1.2)."""
        earlier = [
            effect for effect in self.effects if isinstance(effect, Append) and self.awaiting[effect.seq][0] is run
        ]
        if earlier:
            taken = {effect.seq for effect in earlier}
            self.effects = [
                effect for effect in self.effects if not (isinstance(effect, Append) and effect.seq in taken)
            ]
        try:
            for effect in earlier:
                self.ports.blocking.commit(effect)
                _, record, _ = self.awaiting.pop(effect.seq)
                record.is_acknowledged = True
            self.ports.blocking.commit(append)
        except EngineError as error:
            error.args = (f"{call()} could not be recorded: {error}",)
            self.fail(error)
        except Exception as error:  # noqa: BLE001 - whatever the host raises, the author's code must not go on
            fault = StoreError(f"{call()} could not be recorded: {type(error).__name__}: {error}")
            fault.__cause__ = error
            self.fail(fault)
