"""Journal records and their bytes (decision 0002). Knows the format; must not know runs, calls or stores."""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from flink_agents_subagent._engine.encoding.framing import dump_json
from flink_agents_subagent._engine.unrecorded import UnrecordedRun
from flink_agents_subagent.errors import StoreCorruptError, UnknownVersionError

__all__ = ["Address", "JournalHead", "Kind", "Record", "Status", "decode_record", "encode_record", "surviving"]

Address: TypeAlias = int | str
"""Which execution: its ordinal in the run, or its path when it runs in an internal sub-agent call (decision 0013)."""
Kind = Literal["i", "o", "a", "t", "r"]
"""Intent, outcome, failed attempt, timer firing, reset."""
Status = Literal["ok", "error", "timeout"]

_VERSION: Final = 1
_KINDS: Final = {"i": "intent", "o": "outcome", "a": "failed attempt", "t": "timer", "r": "reset"}
_HEAD = struct.Struct(">BI")


class JournalHead(NamedTuple):
    """What the first record of a journal says about its run."""

    input_fingerprint: bytes
    started_ms: int
    unrecorded: Sequence[UnrecordedRun] = ()
    """Earlier runs of the key that left no record, oldest first."""


@dataclass(slots=True)
class Record:
    """One entry of a journal.

    `execution` and `slot` say what it belongs to: for a timer, `slot` is the timer's number in its execution. `number` is the
    record's place in the journal and part of the store's envelope, not of the payload.
    """

    kind: Kind
    execution: Address = 0
    slot: int = 0
    time_ms: int = 0
    function_id: str = ""
    fingerprint: bytes = b""
    status: Status | None = None
    attempts: int = 0
    value: bytes = b""
    head: JournalHead | None = None
    markers: Sequence[tuple[Address, str]] = ()
    discards_from: int = 0
    number: int = 0
    is_acknowledged: bool = False
    is_taken: bool = False
    """Whether a `def` action took the outcome before its turn came (decision 0001)."""
    live: Any = None
    """The outcome as this process saw it; saves decoding a plain value, and keeps an exception's traceback."""

    def identity(self) -> tuple[str, bytes]:
        """Return what must be equal on replay."""
        return self.function_id, self.fingerprint

    @property
    def text(self) -> str:
        """The record for messages."""
        what = f"record {self.number} ({_KINDS[self.kind]}, execution {self.execution}, slot {self.slot}"
        if not self.function_id:
            return f"{what})"
        return f"{what}, {self.function_id} with arguments {self.fingerprint.hex() or 'none'})"

    def stub(self) -> Record:
        """Return the record as a checkpoint keeps it when nobody will read its value again."""
        return Record(
            self.kind,
            self.execution,
            self.slot,
            self.time_ms,
            status=self.status,
            head=self.head,
            markers=self.markers,
            discards_from=self.discards_from,
            number=self.number,
            is_acknowledged=self.is_acknowledged,
        )


def encode_record(record: Record) -> bytes:
    """Return the payload of a record."""
    # Written by hand: one of these is made for every call, and a JSON encoder takes ten times as long.
    function = f',"f":{_json_text(record.function_id)}' if record.function_id else ""
    fingerprint = f',"p":"{record.fingerprint.hex()}"' if record.fingerprint else ""
    status = f',"x":"{record.status}"' if record.status is not None else ""
    attempts = f',"n":{record.attempts}' if record.attempts else ""
    discards = f',"c":{record.discards_from}' if record.discards_from else ""
    markers = f',"m":{dump_json(record.markers).decode()}' if record.markers else ""
    head = f',"h":{_head_json(record.head)}' if record.head is not None else ""
    execution = record.execution if type(record.execution) is int else f'"{record.execution}"'
    header = (
        f'{{"k":"{record.kind}","e":{execution},"s":{record.slot},"t":{record.time_ms}'
        f"{function}{fingerprint}{status}{attempts}{discards}{markers}{head}}}"
    ).encode()
    return _HEAD.pack(_VERSION, len(header)) + header + record.value


def _head_json(head: JournalHead) -> str:
    unrecorded = ""
    if head.unrecorded:
        runs = [[run.run_number, run.started_ms, run.input_fingerprint.hex()] for run in head.unrecorded]
        unrecorded = f',"u":{dump_json(runs).decode()}'
    return f'{{"i":"{head.input_fingerprint.hex()}","t":{head.started_ms}{unrecorded}}}'


@functools.lru_cache(maxsize=1024)
def _json_text(text: str) -> str:
    return dump_json(text).decode("utf-8")


def decode_record(number: int, payload: bytes, where: str) -> Record:
    """Return the record with this payload.

    Args:
        number: Its place in the journal.
        payload: What `encode_record` made, in this or an earlier release.
        where: Address for messages.

    Raises:
        UnknownVersionError: A later release wrote it.
        StoreCorruptError: The bytes are damaged.
    """
    if payload and payload[0] != _VERSION:
        raise UnknownVersionError(
            f"{where} has format version {payload[0]}, this release reads version {_VERSION}; run the release that wrote it"
        )
    try:
        _, length = _HEAD.unpack_from(payload)
        end = _HEAD.size + length
        header = json.loads(payload[_HEAD.size : end].decode("utf-8"))
        return _from_header(number, header, payload[end:])
    except (struct.error, ValueError, LookupError, TypeError) as error:
        raise StoreCorruptError(f"{where} cannot be read: {type(error).__name__}: {error}") from error


def _from_header(number: int, header: dict[str, Any], value: bytes) -> Record:
    kind = header["k"]
    head = header.get("h")
    return Record(
        kind=kind,
        execution=header["e"],
        slot=header["s"],
        time_ms=header["t"],
        function_id=header.get("f", ""),
        fingerprint=bytes.fromhex(header.get("p", "")),
        status=header.get("x"),
        attempts=header.get("n", 0),
        value=value,
        head=None if head is None else _head_of(head),
        markers=tuple((execution, change) for execution, change in header.get("m", ())),
        discards_from=header.get("c", 0),
        number=number,
        is_acknowledged=True,
    )


def _head_of(head: dict[str, Any]) -> JournalHead:
    unrecorded = tuple(UnrecordedRun(number, ms, bytes.fromhex(text)) for number, ms, text in head.get("u", ()))
    return JournalHead(bytes.fromhex(head["i"]), head["t"], unrecorded)


def surviving(records: Iterable[Record]) -> list[Record]:
    """Return the records that no later reset discarded, in order (E3.7)."""
    kept: list[Record] = []
    for record in records:
        if record.kind == "r":
            kept = [earlier for earlier in kept if earlier.number < record.discards_from]
        kept.append(record)
    return kept
