"""The canonical encoding of plain values: what nearly every input and nearly every argument is made of, and therefore fast.

Gives the same bytes as `canonical.py`, which does the rest: values of other types, and refusals with their paths.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["encode_float", "encode_int", "encode_plain", "encode_text"]

_u32 = struct.Struct(">I").pack
_f64 = struct.Struct(">d").pack
_NAN = struct.pack(">d", math.nan)

_SHORT, _MANY = 64, 1024
_TEXT_HEADS = [b"s" + _u32(length) for length in range(_SHORT)]
_INT_HEADS = [b"i" + _u32(length) for length in range(_SHORT)]
"""Tags and lengths of what is short, as most parts are."""
_names: dict[str, bytes] = {}
"""Encoded names of fields, which values of one job have in common: so many, of at most so many letters, are remembered."""


def encode_plain(value: Any, depth: int) -> bytes | None:
    """Return the canonical encoding of a value.

    Args:
        value: Any value.
        depth: How many containers may be nested.

    Returns:
        None when a part of it is not plain, or is nested too deep.
    """
    kind = type(value)
    # Not by way of `encode_text` and `encode_int`: nearly everything is text or a number, and a call takes as long as the encoding.
    if kind is str:
        data: bytes = value.encode("utf-8", "surrogatepass")
        length = len(data)
        return (_TEXT_HEADS[length] if length < _SHORT else b"s" + _u32(length)) + data
    if kind is int:
        length = value.bit_length() // 8 + 1
        data = value.to_bytes(length, "big", signed=True)
        return (_INT_HEADS[length] if length < _SHORT else b"i" + _u32(length)) + data
    if kind is dict:
        return _encode_dict(value, depth - 1)
    if kind is list:
        return _encode_items(b"l", value, depth - 1)
    if kind is tuple:
        return _encode_items(b"t", value, depth - 1)
    if kind is float:
        return encode_float(value)
    if kind is bytes:
        data = value
        return b"b" + _u32(len(data)) + data
    return _CONSTANTS.get(value) if value is None or kind is bool else None


_CONSTANTS = {None: b"N", True: b"T", False: b"F"}


def _encode_dict(pairs: Mapping[Any, Any], depth: int) -> bytes | None:
    if depth < 0:
        return None
    for name in pairs:
        if type(name) is not str:
            return None
    parts = [b"d", _u32(len(pairs))]
    for name in sorted(pairs):
        item = pairs[name]
        part: bytes | None
        if type(item) is str:
            # Told here as well, because most fields are text.
            data = item.encode("utf-8", "surrogatepass")
            length = len(data)
            part = (_TEXT_HEADS[length] if length < _SHORT else b"s" + _u32(length)) + data
        else:
            part = encode_plain(item, depth)
            if part is None:
                return None
        parts += (_names.get(name) or _encode_name(name), part)
    return b"".join(parts)


def _encode_name(name: str) -> bytes:
    encoded = encode_text(name)
    if len(name) <= _SHORT and len(_names) < _MANY:
        _names[name] = encoded
    return encoded


def _encode_items(tag: bytes, items: Sequence[Any], depth: int) -> bytes | None:
    if depth < 0:
        return None
    parts = [tag, _u32(len(items))]
    for item in items:
        part = encode_plain(item, depth)
        if part is None:
            return None
        parts.append(part)
    return b"".join(parts)


def encode_text(value: str) -> bytes:
    """Return the canonical encoding of a text."""
    data = value.encode("utf-8", "surrogatepass")
    return b"s" + _u32(len(data)) + data


def encode_int(value: int) -> bytes:
    """Return the canonical encoding of a whole number."""
    length = value.bit_length() // 8 + 1
    return b"i" + _u32(length) + value.to_bytes(length, "big", signed=True)


def encode_float(value: float) -> bytes:
    """Return the canonical encoding of a floating-point number; all that are not numbers are one."""
    return b"f" + (_NAN if math.isnan(value) else _f64(value))
