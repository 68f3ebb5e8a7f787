"""Checkpoint entries: what a checkpoint keeps of one key, as bytes (E4.1, decision 0002). Knows no live run."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from flink_agents_subagent._engine.encoding import ValueCodec, pack_frames, unpack_frames
from flink_agents_subagent._engine.encoding.framing import dump_json
from flink_agents_subagent._engine.execution import VisitLog
from flink_agents_subagent._engine.memory import Entry, decode_entry, encode_entry
from flink_agents_subagent._engine.record import Address, Record, decode_record, encode_record
from flink_agents_subagent._engine.unclaimed import UnclaimedJournal
from flink_agents_subagent.errors import EncodingError, StoreCorruptError, UnknownVersionError
from flink_agents_subagent.events import Event

__all__ = [
    "ExecutionEntry",
    "KeyEntry",
    "QueuedInput",
    "RunEntry",
    "ScopeEntry",
    "decode_key_entry",
    "encode_key_entry",
    "event_bytes",
]

_VERSION: Final = 1


@dataclass(slots=True)
class ExecutionEntry:
    """One execution of the run: what it was, how far it came, what it did."""

    action: str
    is_finished: bool
    outputs: int
    log: list[VisitLog]
    scopes: Sequence[ScopeEntry] = ()
    """The internal sub-agent calls that it opened, of one that is not finished."""


@dataclass(slots=True)
class ScopeEntry:
    """One internal sub-agent call: its executions while it lasts, afterwards its outcome alone (decision 0013)."""

    slot: int
    function_id: str
    fingerprint: bytes
    ended_at: int | None = None
    """The step in which it ended; None as long as something of it is open."""
    data: bytes | None = None
    """Its encoded outcome; None when the caller took it back, or it was timed out."""
    is_error: bool = False
    """Whether the outcome is an exception."""
    log: list[VisitLog] = field(default_factory=list)
    """What one that has ended did to the run, by step."""
    executions: list[ExecutionEntry] = field(default_factory=list)


@dataclass(slots=True)
class RunEntry:
    """The active run of a key."""

    raw: bytes
    timestamp: int | None
    started_ms: int
    run_number: int | None
    input_fingerprint: bytes | None
    records: list[Record]
    """The flag `is_acknowledged` tells whether the store is known to have it."""
    markers: list[tuple[Address, str]]
    reads: Mapping[str, bytes | None]
    executions: list[ExecutionEntry]


@dataclass(frozen=True, slots=True)
class QueuedInput:
    """An input that waits for the runs before it."""

    raw: bytes
    timestamp: int | None


@dataclass(slots=True)
class KeyEntry:
    """Everything of a key that is not memory."""

    run: RunEntry | None = None
    queue: list[QueuedInput] = field(default_factory=list)
    unclaimed: Sequence[UnclaimedJournal] = ()

    @property
    def inputs(self) -> int:
        """How many inputs are active or queued."""
        return len(self.queue) + (self.run is not None)


def encode_key_entry(codec: ValueCodec, entry: KeyEntry) -> bytes:
    """Return the bytes of an entry."""
    writer = _Writer(codec)
    header = {
        "run": None if entry.run is None else writer.run(entry.run),
        "queue": [[writer.frame(queued.raw), queued.timestamp] for queued in entry.queue],
        "unclaimed": [writer.unclaimed(journal) for journal in entry.unclaimed],
    }
    return bytes([_VERSION]) + pack_frames(dump_json(header), writer.frames)


def decode_key_entry(codec: ValueCodec, data: bytes) -> KeyEntry:
    """Return the entry with these bytes.

    Raises:
        UnknownVersionError: A later release wrote it.
        StoreCorruptError: The bytes are damaged.
    """
    if data and data[0] != _VERSION:
        raise UnknownVersionError(
            f"a checkpoint entry has format version {data[0]}, this release reads version {_VERSION}; "
            "restore with the release that wrote it"
        )
    try:
        text, frames = unpack_frames(data[1:])
        header = json.loads(text.decode("utf-8"))
        reader = _Reader(codec, frames)
        return KeyEntry(
            run=None if header["run"] is None else reader.run(header["run"]),
            queue=[QueuedInput(frames[raw], timestamp) for raw, timestamp in header["queue"]],
            unclaimed=[reader.unclaimed(*journal) for journal in header["unclaimed"]],
        )
    except (struct.error, ValueError, LookupError, TypeError) as error:
        raise StoreCorruptError(f"a checkpoint entry cannot be read: {type(error).__name__}: {error}") from error


def event_bytes(codec: ValueCodec, event: Event) -> bytes | None:
    """Return an event as an entry keeps it; None when it cannot be kept, which matters only once an entry has to."""
    try:
        return codec.encode(event)
    except EncodingError:
        return None


class _Writer:
    """Collects byte strings as frames; the JSON holds their positions."""

    def __init__(self, codec: ValueCodec) -> None:
        self._codec = codec
        self.frames: list[bytes] = []

    def frame(self, data: bytes) -> int:
        self.frames.append(data)
        return len(self.frames) - 1

    def optional(self, data: bytes | None) -> int | None:
        return None if data is None else self.frame(data)

    def records(self, records: Sequence[Record]) -> list[list[int]]:
        return [[record.number, self.frame(encode_record(record))] for record in records]

    def unclaimed(self, journal: UnclaimedJournal) -> list[Any]:
        records = self.records(journal.records)
        return [journal.run_number, records, journal.started_ms, journal.input_fingerprint.hex()]

    def run(self, run: RunEntry) -> dict[str, Any]:
        return {
            "raw": self.frame(run.raw),
            "timestamp": run.timestamp,
            "started": run.started_ms,
            "number": run.run_number,
            "fingerprint": None if run.input_fingerprint is None else run.input_fingerprint.hex(),
            "records": self.records(run.records),
            "unacknowledged": sum(not record.is_acknowledged for record in run.records),
            "markers": run.markers,
            "reads": [[path, self.optional(data)] for path, data in run.reads.items()],
            "executions": [self.execution(entry) for entry in run.executions],
        }

    def execution(self, entry: ExecutionEntry) -> list[Any]:
        log = [self.visit(visit) for visit in entry.log] if entry.is_finished else []
        written = [entry.action, entry.is_finished, entry.outputs, log]
        return [*written, [self.scope(scope) for scope in entry.scopes]] if entry.scopes else written

    def scope(self, scope: ScopeEntry) -> list[Any]:
        return [
            scope.slot,
            scope.function_id,
            scope.fingerprint.hex(),
            scope.ended_at,
            self.optional(scope.data),
            scope.is_error,
            [self.visit(visit) for visit in scope.log],
            [self.execution(entry) for entry in scope.executions],
        ]

    def visit(self, visit: VisitLog) -> list[Any]:
        events = [None if event is None else self.frame(self.event(event)) for event in visit.events]
        written = [visit.step, events, self.writes(visit.short_term), self.writes(visit.sensory)]
        if visit.taken:
            return [*written, visit.admitted, visit.taken]
        return [*written, visit.admitted] if visit.admitted else written

    def event(self, event: Event | bytes) -> bytes:
        if isinstance(event, bytes):
            return event
        try:
            return self._codec.encode(event)
        except EncodingError as error:
            raise EncodingError(
                f"an event of type {type(event).__qualname__} has to be kept in a checkpoint, because its run goes on: {error}"
            ) from error

    def writes(self, writes: Mapping[str, Entry]) -> list[list[Any]]:
        return [[path, self.optional(encode_entry(self._codec, entry))] for path, entry in writes.items()]


class _Reader:
    """The inverse of `_Writer`."""

    def __init__(self, codec: ValueCodec, frames: list[bytes]) -> None:
        self._codec = codec
        self._frames = frames

    def optional(self, frame: int | None) -> bytes | None:
        return None if frame is None else self._frames[frame]

    def records(self, records: list[list[int]]) -> list[Record]:
        return [
            decode_record(number, self._frames[frame], f"record {number} of a checkpoint entry")
            for number, frame in records
        ]

    def unclaimed(self, number: int, records: list[list[int]], started_ms: int, fingerprint: str) -> UnclaimedJournal:
        return UnclaimedJournal(number, tuple(self.records(records)), started_ms, bytes.fromhex(fingerprint))

    def run(self, run: dict[str, Any]) -> RunEntry:
        fingerprint = run["fingerprint"]
        return RunEntry(
            raw=self._frames[run["raw"]],
            timestamp=run["timestamp"],
            started_ms=run["started"],
            run_number=run["number"],
            input_fingerprint=None if fingerprint is None else bytes.fromhex(fingerprint),
            records=self._records_of(run),
            markers=[(execution, change_id) for execution, change_id in run["markers"]],
            reads={path: self.optional(frame) for path, frame in run["reads"]},
            executions=[self.execution(*entry) for entry in run["executions"]],
        )

    def execution(
        self, action: str, is_finished: bool, outputs: int, log: list[Any], scopes: Sequence[Any] = ()
    ) -> ExecutionEntry:
        visits = [self.visit(visit) for visit in log]
        return ExecutionEntry(action, is_finished, outputs, visits, [self.scope(scope) for scope in scopes])

    def scope(self, scope: list[Any]) -> ScopeEntry:
        slot, function_id, fingerprint, ended_at, data, is_error, log, executions = scope
        return ScopeEntry(
            slot,
            function_id,
            bytes.fromhex(fingerprint),
            ended_at,
            self.optional(data),
            is_error,
            [self.visit(visit) for visit in log],
            [self.execution(*entry) for entry in executions],
        )

    def _records_of(self, run: dict[str, Any]) -> list[Record]:
        records = self.records(run["records"])
        # They are acknowledged in order.
        for record in records[len(records) - run["unacknowledged"] :]:
            record.is_acknowledged = False
        return records

    def visit(self, visit: list[Any]) -> VisitLog:
        step, events, short_term, sensory, *admitted = visit
        sent: list[Event | bytes | None] = [self.optional(frame) for frame in events]
        return VisitLog(step, sent, self.writes(short_term), self.writes(sensory), *admitted)

    def writes(self, writes: list[list[Any]]) -> dict[str, Entry]:
        return {path: decode_entry(self._codec, path, self.optional(frame)) for path, frame in writes}
