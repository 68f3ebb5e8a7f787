"""What the engine asks of its host in the middle of a command: keyed state, and the append that blocks. Owns the packing."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from flink_agents_subagent._engine.effects import Append
from flink_agents_subagent._flink.port import JavaHost
from flink_agents_subagent.errors import StoreError

__all__ = ["KeyedState", "MailboxStore", "pack_entries"]

_REMOVED = -1


class KeyedState:
    """A read-only view of keyed state.

    Thread: task thread.
    """

    __slots__ = ("_java",)

    def __init__(self, java: JavaHost) -> None:
        self._java = java

    def read(self, key: bytes, path: str) -> bytes | None:
        """Return the memory entry at `path` of `key`."""
        return self._java.readMemory(key, _path_bytes(path))

    def run_number(self, key: bytes) -> int:
        """Return the highest run number written for `key`, 0 when there is none."""
        return self._java.runNumber(key)


class MailboxStore:
    """The append that blocks the task thread (E3.16).

    Thread: task thread.
    """

    __slots__ = ("_java",)

    def __init__(self, java: JavaHost) -> None:
        self._java = java

    def commit(self, append: Append) -> None:
        """Return when the record is durable; the interpreter is free for other threads meanwhile.

        Raises:
            StoreError: It could not be appended. The Java side fails the task with the store's own error.
        """
        try:
            self._java.commit(append.key, append.run_number, append.record_number, append.payload)
        except RuntimeError as error:
            raise StoreError(f"a record could not be appended: {error}") from error

    def now(self) -> int:
        """Return the processing time in milliseconds."""
        return self._java.now()


def pack_entries(entries: Mapping[str, bytes | None]) -> bytes:
    """Return memory entries as one block: (u32 path length, path, i32 value length or −1, value) for each."""
    parts: list[bytes] = []
    for path, value in entries.items():
        name = _path_bytes(path)
        parts += (struct.pack(">I", len(name)), name)
        parts += (struct.pack(">i", _REMOVED),) if value is None else (struct.pack(">i", len(value)), value)
    return b"".join(parts)


def _path_bytes(path: str) -> bytes:
    # Any text is a path, half a surrogate pair included.
    return path.encode("utf-8", "surrogatepass")
