"""One piece of JSON with raw byte strings behind it: `u32 length · JSON · (u32 length · bytes)*` (decision 0002)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["dump_json", "load_json", "pack_frames", "unpack_frames"]

_u32 = struct.Struct(">I")
# Circular values were refused before; without the check the C encoder does not keep a table of identities.
_encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))
# What `_encoder.encode` makes anew for every value, which takes longer than encoding a small one.
_chunks: Callable[[object, int], Iterable[str]] = json.encoder.c_make_encoder(  # type: ignore[attr-defined]  # typeshed leaves it out
    None, _encoder.default, json.encoder.encode_basestring, None, ":", ",", False, False, False
)
_decode = json.JSONDecoder().raw_decode
_encode_ascii = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":")).encode


def dump_json(tree: object) -> bytes:
    """Return compact JSON as UTF-8; lone surrogates, which UTF-8 does not have, are escaped."""
    try:
        return "".join(_chunks(tree, 0)).encode("utf-8")
    except UnicodeEncodeError:
        return _encode_ascii(tree).encode("ascii")


def load_json(data: bytes) -> Any:
    """Return the value of what `dump_json` made; raises `ValueError` for anything else, spaces included."""
    text = data.decode("utf-8")
    # `json.loads` also looks for a byte order mark and for spaces, which takes longer than reading a small value.
    value, end = _decode(text)
    if end != len(text):
        raise ValueError(f"{len(text) - end} characters behind the value")
    return value


def pack_frames(text: bytes, frames: Sequence[bytes]) -> bytes:
    """Join JSON text and byte strings."""
    if not frames:
        return _u32.pack(len(text)) + text
    parts = [_u32.pack(len(text)), text]
    for frame in frames:
        parts += (_u32.pack(len(frame)), frame)
    return b"".join(parts)


def unpack_frames(data: bytes) -> tuple[bytes, list[bytes]]:
    """Split what `pack_frames` joined; raises `ValueError` when the lengths do not fit."""
    parts: list[bytes] = []
    position, end = 0, len(data)
    while position < end:
        if position + 4 > end:
            raise ValueError(f"{end - position} bytes behind the last frame")
        (length,) = _u32.unpack_from(data, position)
        position += 4
        if position + length > end:
            raise ValueError(f"a frame of {length} bytes at offset {position} ends behind the data ({end} bytes)")
        parts.append(data[position : position + length])
        position += length
    if not parts:
        raise ValueError("no data")
    return parts[0], parts[1:]
