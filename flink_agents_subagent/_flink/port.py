"""The Java object that hosts an engine, as Python sees it (decision 0003). Owns the signatures only."""

from __future__ import annotations

from typing import Protocol

__all__ = ["NO_TIMESTAMP", "SLICE_SECONDS", "JavaHost"]

NO_TIMESTAMP = -(1 << 63)
"""Stands for the timestamp of an input that has none."""
SLICE_SECONDS = 0.001
"""After so long, work on gathered inputs gives the task thread back: what else waits for it comes between them."""


class JavaHost(Protocol):
    """One operator instance's Java side.

    Thread: the task thread, except where a method says otherwise. A method that fails raises `RuntimeError`; the Java side keeps the
    original and throws it when the entry point has returned.
    """

    def perform(self, effects: bytes) -> None:
        """Perform a block of effects now, instead of when the entry point has returned."""

    def commit(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Append a record and wait until it is durable."""

    def now(self) -> int:
        """Return the processing time in milliseconds."""

    def readMemory(self, key: bytes, path: bytes) -> bytes | None:  # noqa: N802 - a Java name
        """Return a memory entry of a key."""

    def runNumber(self, key: bytes) -> int:  # noqa: N802 - a Java name
        """Return the highest run number of a key, 0 when there is none."""

    def startCall(self, call: int) -> None:  # noqa: N802 - a Java name
        """Run a blocking call on a pool thread."""

    def openSubagent(self, subagent: int, description: bytes) -> bytes:  # noqa: N802 - a Java name
        """Load, make and open a Java sub-agent; return its mode, or why it cannot be opened."""

    def callSubagent(self, call: int, subagent: int, request: bytes) -> None:  # noqa: N802 - a Java name
        """Start a call of a Java sub-agent; a Java-made thread."""

    def cancelSubagentCall(self, call: int) -> None:  # noqa: N802 - a Java name
        """Keep a call of a Java sub-agent from starting, or interrupt it; a Java-made thread."""

    def closeSubagent(self, subagent: int) -> None:  # noqa: N802 - a Java name
        """Close a Java sub-agent."""

    def wake(self) -> None:
        """Ask for a drain; any thread."""

    def snapshotEntry(self, key: bytes, entry: bytes | None) -> None:  # noqa: N802 - a Java name
        """Write or clear the checkpoint entry of a key."""

    def count(self, name: str, label: str, amount: int) -> None:
        """Add to a counter."""

    def observe(self, name: str, label: str, values: bytes) -> None:
        """Add values to a histogram: big-endian 64-bit numbers."""

    def writeEvents(self, lines: bytes, count: int) -> int:  # noqa: N802 - a Java name
        """Hand lines to the event log, or drop them when it is full; return how many were lost since the last time."""

    def fail(self, error: bytes) -> None:
        """Fail the task; any thread."""
