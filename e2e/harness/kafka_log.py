"""Reads the log files of a Kafka topic as they lie in a broker's folder, whether the broker runs or not.

Owns the file format (record batches of version 2); must not know what the records mean.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.lz4 import unpack_lz4

__all__ = ["LogRecord", "read_log"]

_HEAD = struct.Struct(">qi")
_BATCH = struct.Struct(">ibIhiqqqhii")
_CONTROL = 0x20
_UNPACKERS: Mapping[int, Callable[[bytes], bytes]] = {0: bytes, 1: gzip.decompress, 3: unpack_lz4}


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record where it lies."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes | None]


def read_log(data: Path, topic: str) -> list[LogRecord]:
    """Return the records of a topic, partition by partition in the order of the log, deleted ones that are still there included.

    Args:
        data: The broker's data folder.
        topic: The topic; none of its records, if there is none of this name.

    Raises:
        ValueError: A batch is of another format, or packed with what is not known here.
    """
    folders = sorted(data.glob(f"{topic}-[0-9]*"), key=lambda folder: int(folder.name[len(topic) + 1 :]))
    return [
        record
        for folder in folders
        for file in sorted(folder.glob("*.log"))
        for record in _read_segment(file, int(folder.name[len(topic) + 1 :]))
    ]


def _read_segment(file: Path, partition: int) -> Iterator[LogRecord]:
    data = file.read_bytes()
    place = 0
    while place + _HEAD.size <= len(data):
        base_offset, length = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        if place + length > len(data):
            # It is being written, or its writer was killed.
            return
        yield from _read_batch(data[place : place + length], base_offset, partition)
        place += length


def _read_batch(batch: bytes, base_offset: int, partition: int) -> Iterator[LogRecord]:
    _, magic, _, attributes, *_, count = _BATCH.unpack_from(batch)
    if magic != 2 or (attributes & 7) not in _UNPACKERS:
        raise ValueError(f"a batch at offset {base_offset} has format {magic} and attributes {attributes:#x}")
    if attributes & _CONTROL:
        return
    cursor = _Cursor(_UNPACKERS[attributes & 7](batch[_BATCH.size :]))
    for _ in range(count):
        yield _read_record(cursor, base_offset, partition)


def _read_record(cursor: _Cursor, base_offset: int, partition: int) -> LogRecord:
    cursor.number()  # length
    cursor.take(1)  # attributes
    cursor.number()  # time
    offset = base_offset + cursor.number()
    key, value = cursor.block(), cursor.block()
    headers = {(cursor.block() or b"").decode(): cursor.block() for _ in range(cursor.number())}
    return LogRecord(partition, offset, key, value, headers)


class _Cursor:
    """Reads the parts of a record one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def take(self, length: int) -> bytes:
        self._place += length
        return self._data[self._place - length : self._place]

    def number(self) -> int:
        """Read a zigzag number of variable length."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def block(self) -> bytes | None:
        length = self.number()
        return None if length < 0 else self.take(length)
