from __future__ import annotations

import json
import struct
from uuid import UUID

from e2e.harness.kafka_journal import _audit
from e2e.harness.kafka_log import LogRecord

_FIRST, _SECOND, _OTHER = UUID(int=1), UUID(int=2), UUID(int=3)


def _fence(writer: UUID, groups: str, *, job: str = "job", partition: int = 0) -> LogRecord:
    text = f"flink-agents-subagent fence 1\njob {job}\noperator agent-x\nwriter {writer}\nsubmission s\norigin s\nkey-groups {groups}\n"
    return LogRecord(partition, 0, None, f"{text}partitions 8\nchecksum".encode(), {"fas": b"\x01F"})


def _journal(writer: UUID, function: str, *, group: int = 3, partition: int = 0) -> LogRecord:
    header = json.dumps({"k": "o", "f": function, "x": "ok"}).encode()
    payload = b"\x01" + struct.pack(">I", len(header)) + header + b"value"
    envelope = b"\x01J" + bytes(16) + writer.bytes + struct.pack(">qiqi", 9, group, 5, 2) + bytes(4)
    return LogRecord(partition, 0, b"sA", payload, {"fas": envelope})


def test_records_count_behind_their_writers_fence() -> None:
    """A record counts while its writer's fence is the last one over its key group [S1.5]."""
    journal = _audit(
        [
            _journal(_FIRST, "before any fence"),
            _fence(_FIRST, "0-63"),
            _journal(_FIRST, "counts"),
            _fence(_SECOND, "0-3"),
            _journal(_FIRST, "behind the fence"),
            _journal(_SECOND, "of the successor"),
            _journal(_FIRST, "of a group that was left to it", group=4),
        ],
        "job",
    )

    assert [record.function_id for record in journal.records] == [
        "counts",
        "of the successor",
        "of a group that was left to it",
    ]
    assert journal.records[0].key == b"sA"
    assert (journal.fences, journal.fenced_out) == (2, 1)


def test_fences_of_other_jobs_and_partitions_say_nothing() -> None:
    """Neither another job's fence nor one in another partition takes anything over [S1.6]."""
    journal = _audit(
        [
            _fence(_FIRST, "0-127"),
            _fence(_OTHER, "0-127", job="other+job"),
            _fence(_SECOND, "0-127", partition=1),
            _journal(_FIRST, "counts"),
            _journal(_OTHER, "of another job"),
            LogRecord(0, 0, b"k", b"foreign", {}),
            LogRecord(0, 0, b"k", b"foreign", {"fas": None}),
        ],
        "job",
    )

    assert [record.function_id for record in journal.records] == ["counts"]
    assert (journal.fences, journal.fenced_out) == (2, 0)
