"""Reads what an embedded action-state store has on disk: an auditor of its own, written to the formats, not to the code.

Owns the decoding of segments and record headers (decisions 0002 and 0004); must not know fences: it is for a store whose
writers are dead.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Record", "read_journal", "read_payload"]

_SEGMENT_HEADER = 8 + 16 + 8 + 4
_FORMAT = b"FASLOG01"
_FRAME = struct.Struct(">II")
_BODY = struct.Struct(">biqii")


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its address, and what its header says."""

    key: bytes
    run_number: int
    record_number: int
    kind: str
    """`o` outcome, `i` intent, `a` attempt, `t` timer, `r` reset."""
    function_id: str
    """For an outcome of a deferred sub-agent the call id."""
    status: str


def read_journal(store: Path) -> list[Record]:
    """Return every whole record of all writers below a store's folder.

    Raises:
        ValueError: A file or a record is of an unknown format.
    """
    return [record for file in sorted(store.rglob("writer-*/segment-*")) for record in _read_segment(file)]


def _read_segment(file: Path) -> Iterator[Record]:
    data = file.read_bytes()
    if len(data) < _SEGMENT_HEADER:
        # The writer died while it began the file.
        return
    if not data.startswith(_FORMAT):
        raise ValueError(f"{file} is no segment of the embedded store")
    place = _SEGMENT_HEADER
    while place + _FRAME.size <= len(data):
        length, checksum = _FRAME.unpack_from(data, place)
        body = data[place + _FRAME.size : place + _FRAME.size + length]
        if len(body) < length or _crc32c(body) != checksum:
            # The last frame of a writer that died may be torn; one before it may not.
            if place + _FRAME.size + length < len(data):
                raise ValueError(f"{file} has a damaged frame at byte {place}")
            return
        yield _read_record(file, body)
        place += _FRAME.size + length


def _read_record(file: Path, body: bytes) -> Record:
    version, _, run_number, record_number, key_length = _BODY.unpack_from(body)
    key = body[_BODY.size : _BODY.size + key_length]
    payload = body[_BODY.size + key_length :]
    if version != 1 or payload[:1] != b"\x01":
        raise ValueError(f"{file} has a record of an unknown version")
    return read_payload(key, run_number, record_number, payload)


def read_payload(key: bytes, run_number: int, record_number: int, payload: bytes) -> Record:
    """Read what the payload of a record says, whatever store it lay in."""
    if payload[:1] != b"\x01":
        raise ValueError(f"record {record_number} of run {run_number} is of an unknown version")
    (header_length,) = struct.unpack_from(">I", payload, 1)
    header = json.loads(payload[5 : 5 + header_length])
    return Record(key, run_number, record_number, header["k"], header.get("f", ""), header.get("x", ""))


def _crc32c(data: bytes) -> int:
    checksum = 0xFFFFFFFF
    for byte in data:
        checksum = _CRC_TABLE[(checksum ^ byte) & 0xFF] ^ (checksum >> 8)
    return checksum ^ 0xFFFFFFFF


def _crc_entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


_CRC_TABLE = [_crc_entry(value) for value in range(256)]
