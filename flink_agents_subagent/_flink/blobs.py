"""Several byte strings as one, as they cross the border: `u32 count, (u32 length) x count, bytes`. Owns that form."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

__all__ = ["pack_blobs", "unpack_blobs"]

_COUNT = struct.Struct(">I")


def pack_blobs(parts: Sequence[bytes]) -> bytes:
    """Return byte strings as one block."""
    lengths = struct.pack(f">{1 + len(parts)}I", len(parts), *map(len, parts))
    return b"".join((lengths, *parts))


def unpack_blobs(block: bytes) -> Iterator[bytes]:
    """Yield the byte strings of a block."""
    (count,) = _COUNT.unpack_from(block)
    at = _COUNT.size * (1 + count)
    for length in struct.unpack_from(f">{count}I", block, _COUNT.size):
        end = at + length
        yield block[at:end]
        at = end
