"""What an administrator, or a stranger, does to a topic of a broker. Owns the call of the Java program that does it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from e2e.harness.broker_files import BROKER_FOLDER, class_path, java
from e2e.harness.processes import HarnessError

__all__ = ["ForeignRecord", "TopicTool"]

_PROGRAM = BROKER_FOLDER / "TopicTool.java"
_TIMEOUT_S = 90


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """A record that the store has not written."""

    value: bytes | None
    key: bytes | None = None
    header: bytes | None = None
    """What tells records of the store from others."""


@dataclass(frozen=True, slots=True)
class TopicTool:
    """Administers the topics of a cluster; each method returns when the brokers have it."""

    brokers: str
    """As `bootstrap.servers` takes them."""

    def create(self, topic: str, partitions: int, replicas: int) -> None:
        """Create a topic."""
        self._run("create", topic, str(partitions), str(replicas))

    def set(self, topic: str, name: str, value: str) -> None:
        """Set a property of a topic."""
        self._run("set", topic, name, value)

    def deny(self, topic: str, operation: str) -> None:
        """Forbid everybody but super users an operation, such as Write."""
        self._run("deny", topic, operation)

    def allow(self, topic: str, operation: str) -> None:
        """Take a `deny` back."""
        self._run("allow", topic, operation)

    def throttle(self, bytes_per_second: int) -> None:
        """Let every client read so much a second; 0: as much as it likes."""
        self._run("throttle", str(bytes_per_second))

    def write(self, topic: str, partition: int, records: Sequence[ForeignRecord]) -> list[int]:
        """Write records as any other program might; return their offsets."""
        parts = [part for record in records for part in (record.key, record.value, record.header)]
        written = self._run("write", topic, str(partition), *("-" if part is None else part.hex() for part in parts))
        return [int(offset) for offset in written.split()]

    def _run(self, command: str, *arguments: str) -> str:
        done = subprocess.run(
            [java(), "-XX:TieredStopAtLevel=1", "-cp", class_path(), _PROGRAM, command, self.brokers, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise HarnessError(
                f"{command} {' '.join(arguments)[:200]} on {self.brokers} failed:\n{done.stderr[-3000:]}"
            )
        return done.stdout.strip()
