"""The effects of an entry call as one block, in their order, for the Java side to perform (decision 0003). Owns that form.

Each effect begins with a tag; numbers are big-endian. The Java half of the same name reads it.
"""

from __future__ import annotations

import struct

from flink_agents_subagent._engine.effects import Append, InputFinished, WriteMemory, WriteRunNumber
from flink_agents_subagent._flink.keyed import pack_entries
from flink_agents_subagent._flink.port import NO_TIMESTAMP

__all__ = ["EffectBlock"]

_EMIT, _DEAD_LETTER, _APPEND, _INPUT_FINISHED, _WRITE_MEMORY, _WRITE_RUN_NUMBER, _SET_TIMER, _LEAVE_INPUTS = range(1, 9)
_OUTPUT_HEAD = struct.Struct(">BqI").pack
_APPEND_HEAD = struct.Struct(">BqqiII").pack
_NUMBER = struct.Struct(">Bq").pack
_MEMORY_HEAD = struct.Struct(">BII").pack
_RUN_NUMBER_HEAD = struct.Struct(">BqI").pack
_COUNT = struct.Struct(">BI").pack


class EffectBlock:
    """Effects that wait for the end of the entry call.

    Thread: task thread.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def emit(self, payload: bytes, timestamp: int | None) -> None:
        """Send an output downstream."""
        # Each input comes here: a method that both kinds share would be a tenth of what the Python side of the border costs.
        self._parts += (_OUTPUT_HEAD(_EMIT, NO_TIMESTAMP if timestamp is None else timestamp, len(payload)), payload)

    def emit_dead_letter(self, payload: bytes, timestamp: int | None) -> None:
        """Send a dead letter."""
        head = _OUTPUT_HEAD(_DEAD_LETTER, NO_TIMESTAMP if timestamp is None else timestamp, len(payload))
        self._parts += (head, payload)

    def append(self, effect: Append) -> None:
        """Hand a record to the store."""
        seq, key, run_number, record_number, payload = effect
        self._parts += (_APPEND_HEAD(_APPEND, seq, run_number, record_number, len(key), len(payload)), key, payload)

    def finish_input(self, effect: InputFinished) -> None:
        """Note that the run of an input ended."""
        self._parts.append(_NUMBER(_INPUT_FINISHED, effect.ticket))

    def write_memory(self, effect: WriteMemory) -> None:
        """Write memory entries of a key."""
        packed = pack_entries(effect.entries)
        self._parts += (_MEMORY_HEAD(_WRITE_MEMORY, len(effect.key), len(packed)), effect.key, packed)

    def write_run_number(self, effect: WriteRunNumber) -> None:
        """Keep the highest run number of a key."""
        self._parts += (_RUN_NUMBER_HEAD(_WRITE_RUN_NUMBER, effect.run_number, len(effect.key)), effect.key)

    def set_timer(self, deadline_ms: int) -> None:
        """Ask for a drain at this time or soon after; replaces an earlier request."""
        self._parts.append(_NUMBER(_SET_TIMER, deadline_ms))

    def leave_inputs(self, count: int) -> None:
        """Give so many inputs back, the last ones of the block: they are handed over again."""
        self._parts.append(_COUNT(_LEAVE_INPUTS, count))

    def take(self) -> bytes | None:
        """Return the block, None when there are no effects."""
        if not self._parts:
            return None
        block = b"".join(self._parts)
        self._parts.clear()
        return block
