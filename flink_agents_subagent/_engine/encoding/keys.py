"""Keys as bytes: what Java hashes, stores and addresses (decision 0003). Pinned by `tests/vectors/keys` in both languages."""

from __future__ import annotations

import struct
from typing import TypeAlias

from flink_agents_subagent.errors import NotExpressibleError

__all__ = ["Key", "key_bytes", "key_value"]

Key: TypeAlias = "str | int | bytes | bool | tuple[Key, ...]"

_u32 = struct.Struct(">I")


def key_bytes(value: object) -> bytes:
    """Return the bytes of a key: different keys have different bytes, and the same key the same in any process.

    Args:
        value: A `str`, `int`, `bytes`, `bool`, or a tuple of these.

    Raises:
        NotExpressibleError: The key has another type; carries the path.
    """
    # Most keys are texts, and each input has a key.
    return _text(value) if type(value) is str else _encode(value, "$")


def key_value(data: bytes) -> Key:
    """Return the key with these bytes; raises `ValueError` when no key has them."""
    tag, body = data[:1], data[1:]
    if tag == b"s":
        return body.decode("utf-8", "surrogatepass")
    if tag == b"i":
        return int(body)
    if tag == b"b":
        return body
    if tag == b"?" and body in (b"0", b"1"):
        return body == b"1"
    if tag == b"t":
        return tuple(key_value(part) for part in _split(body))
    raise ValueError(f"no key has the bytes {data[:40]!r}")


def _encode(value: object, path: str) -> bytes:
    kind = type(value)
    if isinstance(value, str) and kind is str:
        return _text(value)
    if isinstance(value, bool):
        return b"?1" if value else b"?0"
    if isinstance(value, int) and kind is int:
        return b"i" + _digits(value, path)
    if isinstance(value, bytes) and kind is bytes:
        return b"b" + value
    if isinstance(value, tuple) and kind is tuple:
        parts = [_encode(part, f"{path}[{index}]") for index, part in enumerate(value)]
        return b"t" + b"".join(_u32.pack(len(part)) + part for part in parts)
    raise NotExpressibleError(
        f"a key of type {kind.__module__}:{kind.__qualname__} at {path} is not supported; "
        "let the key selector return str, int, bytes, bool or a tuple of these",
        path,
    )


def _text(value: str) -> bytes:
    return b"s" + value.encode("utf-8", "surrogatepass")


def _digits(value: int, path: str) -> bytes:
    try:
        return b"%d" % value
    except ValueError as error:
        raise NotExpressibleError(f"the key at {path} has too many digits: {error}", path) from error


def _split(body: bytes) -> list[bytes]:
    parts, position = [], 0
    while position < len(body):
        if position + 4 > len(body):
            raise ValueError(f"a tuple key ends inside a length: {body[:40]!r}")
        (length,) = _u32.unpack_from(body, position)
        position += 4
        if position + length > len(body):
            raise ValueError(f"a tuple key ends inside a part: {body[:40]!r}")
        parts.append(body[position : position + length])
        position += length
    return parts
