from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from e2e.harness.journal import Record, _crc32c, read_journal

_HEADER = b"FASLOG01" + bytes(28)


def _frame(function_id: str, key: bytes = b"sBOS", kind: str = "o", *, version: int = 1) -> bytes:
    header = json.dumps({"k": kind, "f": function_id, "x": "ok"}).encode()
    payload = b"\x01" + struct.pack(">I", len(header)) + header + b"value"
    body = struct.pack(">biqii", version, 7, 3, 1, len(key)) + key + payload
    return struct.pack(">II", len(body), _crc32c(body)) + body


def _segment(store: Path, *frames: bytes, writer: int = 1, header: bytes = _HEADER) -> Path:
    file = store / "job" / "agent-x" / f"writer-{writer}" / "segment-00000000000000000000"
    file.parent.mkdir(parents=True)
    file.write_bytes(header + b"".join(frames))
    return file


def test_the_checksum_is_crc_32c() -> None:
    """The checksum has the published check value."""
    assert _crc32c(b"123456789") == 0xE3069283


def test_records_of_all_writers_are_read(tmp_path: Path) -> None:
    """Every record of every writer is there, with address and header."""
    _segment(tmp_path, _frame("c-1"), _frame("c-2", kind="t"), writer=1)
    _segment(tmp_path, _frame("c-3", key=b"i-7"), writer=2)

    records = read_journal(tmp_path)

    assert [record.function_id for record in records] == ["c-1", "c-2", "c-3"]
    assert records[1] == Record(b"sBOS", 3, 1, "t", "c-2", "ok")
    assert records[2].key == b"i-7"


@pytest.mark.parametrize("kept", [1, 8, 40, -1])
def test_a_torn_last_frame_does_not_count(kept: int, tmp_path: Path) -> None:
    """What the writer did not finish before it died is no record [S1.4]."""
    _segment(tmp_path, _frame("c-1"), _frame("c-2")[:kept])

    assert [record.function_id for record in read_journal(tmp_path)] == ["c-1"]


def test_a_last_frame_with_a_wrong_checksum_does_not_count(tmp_path: Path) -> None:
    """A last frame of full length whose content did not reach the disk is no record [S1.4]."""
    frame = bytearray(_frame("c-2"))
    frame[-1] ^= 1

    _segment(tmp_path, _frame("c-1"), bytes(frame))

    assert [record.function_id for record in read_journal(tmp_path)] == ["c-1"]


def test_damage_in_the_middle_is_refused(tmp_path: Path) -> None:
    """A damaged frame with others behind it is not taken for the end."""
    frame = bytearray(_frame("c-1"))
    frame[-1] ^= 1
    _segment(tmp_path, bytes(frame), _frame("c-2"))

    with pytest.raises(ValueError, match="damaged frame at byte 36"):
        read_journal(tmp_path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    """A file or record of an unknown format is not taken for an empty one."""
    file = _segment(tmp_path, _frame("c-1", version=2))
    with pytest.raises(ValueError, match="unknown version"):
        read_journal(tmp_path)

    file.write_bytes(b"FASLOG99" + bytes(28))
    with pytest.raises(ValueError, match="no segment"):
        read_journal(tmp_path)


def test_a_segment_that_was_just_begun_is_empty(tmp_path: Path) -> None:
    """A writer that died within its first bytes has recorded nothing."""
    _segment(tmp_path, header=b"FASL")

    assert read_journal(tmp_path) == []
