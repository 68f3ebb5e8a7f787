"""Reads what a Kafka action-state store holds: an auditor of its own, written to the format (decision 0006), not to the code.

Owns which records count: those of the writer whose fence is the last one before them that covers their key group.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_plus
from uuid import UUID

from e2e.harness.journal import Record, read_payload
from e2e.harness.kafka_log import LogRecord, read_log

__all__ = ["KafkaJournal", "read_kafka_journal"]

_FENCE = re.compile(
    rb"flink-agents-subagent fence 1\njob (?P<job>\S*)\noperator (?P<operator>\S*)\nwriter (?P<writer>[0-9a-f-]{36})\n"
    rb"submission \S*\norigin \S*\nkey-groups (?P<first>\d+)-(?P<last>\d+)\n"
)
_JOURNAL = struct.Struct(">2x16x16sqiqi")


@dataclass(frozen=True, slots=True)
class KafkaJournal:
    """The records of one job that count, and how many do not."""

    records: tuple[Record, ...]
    fences: int
    """Attempts that took the key groups over, counted once for each partition."""
    fenced_out: int
    """Records of a writer that had been replaced: behind the fence of its successor."""


def read_kafka_journal(data: Path, topic: str, job: str) -> KafkaJournal:
    """Read a topic from a broker's data folder.

    Args:
        data: The folder.
        topic: The topic.
        job: The job identifier; records of others are passed over.
    """
    return _audit(read_log(data, topic), job)


def _audit(log: Iterable[LogRecord], job: str) -> KafkaJournal:
    owners: dict[tuple[int, int], bytes] = {}
    """Writer of each key group, in each partition: only the fences of its own count."""
    own: set[bytes] = set()
    records: list[Record] = []
    fences = fenced_out = 0
    for entry in log:
        header = entry.headers.get("fas") or b""
        if header[1:2] == b"F" and (claim := _FENCE.match(entry.value or b"")):
            if unquote_plus(claim["job"].decode()) == job:
                fences += 1
                writer = UUID(claim["writer"].decode()).bytes
                own.add(writer)
                groups = range(int(claim["first"]), int(claim["last"]) + 1)
                owners.update({(entry.partition, key_group): writer for key_group in groups})
        elif header[1:2] == b"J" and len(header) == _JOURNAL.size + 4:
            writer, _, key_group, run_number, record_number = _JOURNAL.unpack_from(header)
            if owners.get((entry.partition, key_group)) == writer:
                records.append(read_payload(entry.key or b"", run_number, record_number, entry.value or b""))
            elif writer in own:
                fenced_out += 1
    return KafkaJournal(tuple(records), fences, fenced_out)
