"""Inputs as the Java side hands them over, several as one block. Owns that form.

`i64 now, i64 first ticket, u32 count, (i64 timestamp, u32 key length, u32 value length) x count, (key, value) x count`
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["InputBlock"]

_HEAD = struct.Struct(">qqI")
_INPUT = struct.Struct(">qII")


class InputBlock:
    """Inputs that came together; iterates over (ticket, key, value, timestamp).

    Thread: any.
    """

    __slots__ = ("_block", "_first_ticket", "count", "now_ms")

    def __init__(self, block: bytes) -> None:
        self._block = block
        self.now_ms, self._first_ticket, self.count = _HEAD.unpack_from(block)

    def __iter__(self) -> Iterator[tuple[int, bytes, bytes, int]]:
        block, ticket = self._block, self._first_ticket
        key_at = _HEAD.size + self.count * _INPUT.size
        for timestamp, key_length, value_length in _INPUT.iter_unpack(block[_HEAD.size : key_at]):
            value_at = key_at + key_length
            end = value_at + value_length
            yield ticket, block[key_at:value_at], block[value_at:end], timestamp
            ticket += 1
            key_at = end
