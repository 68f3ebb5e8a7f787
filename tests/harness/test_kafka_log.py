from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.harness.kafka_log import LogRecord, read_log
from e2e.harness.lz4 import unpack_lz4

Part = bytes | None


def _number(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _block(part: Part) -> bytes:
    return _number(-1) if part is None else _number(len(part)) + part


def _record(delta: int, key: Part, value: Part, header: Part) -> bytes:
    headers = _number(0) if header is None else _number(1) + _block(b"fas") + _block(header)
    content = b"\0" + _number(5) + _number(delta) + _block(key) + _block(value) + headers
    return _number(len(content)) + content


def _batch(base: int, records: bytes, count: int, *, attributes: int = 0, magic: int = 2) -> bytes:
    rest = struct.pack(">ibIhiqqqhii", 0, magic, 0, attributes, count - 1, 0, 0, 1, 0, 0, count) + records
    return struct.pack(">qi", base, len(rest)) + rest


def _stored_frame(content: bytes) -> bytes:
    """Return an LZ4 frame whose one block is not packed."""
    return (
        struct.pack("<IBBB", 0x184D2204, 0x60, 0x40, 0) + struct.pack("<I", 1 << 31 | len(content)) + content + bytes(4)
    )


def _log(data: Path, partition: int, *batches: bytes, base: int = 0) -> None:
    folder = data / f"topic-{partition}"
    folder.mkdir(exist_ok=True)
    (folder / f"{base:020}.log").write_bytes(b"".join(batches))


def test_records_are_read_with_key_value_and_headers(tmp_path: Path) -> None:
    """Partitions and segments are read in their order; None and nothing are told apart."""
    _log(tmp_path, 10, _batch(4, _record(0, b"k", b"v", b"h"), 1), base=4)
    _log(tmp_path, 2, _batch(0, _record(0, None, b"", None) + _record(1, b"", None, None), 2))
    _log(tmp_path, 2, _batch(2, _record(0, b"k", b"v", None), 1), base=2)

    assert read_log(tmp_path, "topic") == [
        LogRecord(2, 0, None, b"", {}),
        LogRecord(2, 1, b"", None, {}),
        LogRecord(2, 2, b"k", b"v", {}),
        LogRecord(10, 4, b"k", b"v", {"fas": b"h"}),
    ]
    assert read_log(tmp_path, "other") == []


@pytest.mark.parametrize(("code", "pack"), [(1, gzip.compress), (3, _stored_frame)])
def test_packed_batches_are_unpacked(code: int, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """What the client packs with gzip or LZ4 reads as if it were not packed."""
    _log(tmp_path, 0, _batch(7, pack(_record(0, b"k", bytes(1000), None)), 1, attributes=code))

    assert read_log(tmp_path, "topic") == [LogRecord(0, 7, b"k", bytes(1000), {})]


def test_control_batches_and_unfinished_ones_are_no_records(tmp_path: Path) -> None:
    """The ends of transactions are passed over, and what is still being written does not count."""
    whole, record = _batch(0, _record(0, b"a", b"b", None), 1), _record(0, b"k", b"v", None)
    _log(tmp_path, 0, _batch(0, record, 1, attributes=0x20), whole, whole[:-1])

    assert [entry.key for entry in read_log(tmp_path, "topic")] == [b"a"]


@pytest.mark.parametrize(("magic", "attributes"), [(1, 0), (2, 2)])
def test_other_formats_are_refused(magic: int, attributes: int, tmp_path: Path) -> None:
    """A format that is not known is an error, not a batch without records."""
    _log(tmp_path, 0, _batch(3, b"", 0, magic=magic, attributes=attributes))

    with pytest.raises(ValueError, match="offset 3"):
        read_log(tmp_path, "topic")


def test_lz4_matches_may_reach_into_what_they_make() -> None:
    """A sequence of literals, a match that overlaps itself, long lengths, and a last sequence without a match."""
    # 15 + 1 literals, then a match of 15 + 4 + 6 from 16 before, then 2 literals.
    block = bytes([0xFF, 1]) + b"0123456789abcdef" + struct.pack("<H", 1) + bytes([6]) + bytes([0x20]) + b"xy"
    frame = struct.pack("<IBBB", 0x184D2204, 0x60, 0x40, 0) + struct.pack("<I", len(block)) + block + bytes(4)

    assert unpack_lz4(frame) == b"0123456789abcdef" + b"f" * 25 + b"xy"


def test_lz4_optional_fields_are_passed_over() -> None:
    """The size of the content and the checksums of blocks may stand in a frame."""
    content = b"plain"
    frame = struct.pack("<IBBQB", 0x184D2204, 0x78, 0x40, len(content), 0)
    frame += struct.pack("<I", 1 << 31 | len(content)) + content + bytes(4) + bytes(4)

    assert unpack_lz4(frame) == content


def test_what_is_no_lz4_is_refused() -> None:
    """Other bytes are an error."""
    with pytest.raises(ValueError, match="begins with"):
        unpack_lz4(bytes(16))
