"""A Java side made of lists."""

from __future__ import annotations

import json
import struct
import threading
from typing import Any

from flink_agents_subagent._flink.port import JavaHost

__all__ = ["FakeJava"]


class FakeJava(JavaHost):
    """Remembers what it is told; tells when it is woken."""

    def __init__(self) -> None:
        self.performed: list[bytes] = []
        self.committed: list[tuple[bytes, int, int]] = []
        self.started: list[int] = []
        self.counted: list[tuple[str, str, int]] = []
        self.events: list[dict[str, Any]] = []
        self.event_blocks: list[int] = []
        self.lines_to_lose = 0
        self.observed: list[tuple[str, str, int]] = []
        self.memory: dict[tuple[bytes, bytes], bytes] = {}
        self.entries: dict[bytes, bytes | None] = {}
        self.failures: list[dict[str, Any]] = []
        self.mode: dict[str, Any] = {"mode": "deferred", "reconciles": False}
        self.opened: dict[int, dict[str, Any]] = {}
        self.called: list[tuple[int, int, dict[str, Any]]] = []
        self.cancelled: list[int] = []
        self.closed: list[int] = []
        self.is_called = threading.Semaphore(0)
        self.wakes = 0
        self.woken = threading.Semaphore(0)
        self.commit_error: Exception | None = None

    def perform(self, effects: bytes) -> None:
        """Remember."""
        self.performed.append(effects)

    def commit(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Remember, or fail as told."""
        if self.commit_error is not None:
            raise self.commit_error
        self.committed.append((key, run_number, record_number))

    def now(self) -> int:
        """Tell a time."""
        return 77

    def readMemory(self, key: bytes, path: bytes) -> bytes | None:  # noqa: N802 - a Java name
        """Look it up."""
        return self.memory.get((key, path))

    def runNumber(self, key: bytes) -> int:  # noqa: N802 - a Java name
        """Know none."""
        return 0

    def startCall(self, call: int) -> None:  # noqa: N802 - a Java name
        """Remember."""
        self.started.append(call)

    def openSubagent(self, subagent: int, description: bytes) -> bytes:  # noqa: N802 - a Java name
        """Remember, and answer as told."""
        self.opened[subagent] = json.loads(description)
        return json.dumps(self.mode).encode()

    def callSubagent(self, call: int, subagent: int, request: bytes) -> None:  # noqa: N802 - a Java name
        """Remember."""
        self.called.append((call, subagent, json.loads(request)))
        self.is_called.release()

    def cancelSubagentCall(self, call: int) -> None:  # noqa: N802 - a Java name
        """Remember."""
        self.cancelled.append(call)
        self.is_called.release()

    def closeSubagent(self, subagent: int) -> None:  # noqa: N802 - a Java name
        """Remember."""
        self.closed.append(subagent)

    def wake(self) -> None:
        """Count."""
        self.wakes += 1
        self.woken.release()

    def snapshotEntry(self, key: bytes, entry: bytes | None) -> None:  # noqa: N802 - a Java name
        """Remember."""
        self.entries[key] = entry

    def count(self, name: str, label: str, amount: int) -> None:
        """Remember."""
        self.counted.append((name, label, amount))

    def observe(self, name: str, label: str, values: bytes) -> None:
        """Remember."""
        self.observed += [(name, label, value) for (value,) in struct.iter_unpack(">q", values)]

    def writeEvents(self, lines: bytes, count: int) -> int:  # noqa: N802 - a Java name
        """Remember, and lose as many lines as told."""
        self.events += [json.loads(line) for line in lines.splitlines()]
        self.event_blocks.append(count)
        lost, self.lines_to_lose = self.lines_to_lose, 0
        return lost

    def fail(self, error: bytes) -> None:
        """Remember."""
        self.failures.append(json.loads(error))

    def wait_woken(self) -> None:
        """Return after a wake-up."""
        assert self.woken.acquire(timeout=30), "nobody woke the Java side"
