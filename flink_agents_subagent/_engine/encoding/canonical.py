"""The canonical encoding: equal bytes for equal value and type, in any process (E3.3).

Every encoding starts with a tag byte and delimits itself, so that joining encodings stays injective. Parts without an
order (dict, set, fields) are sorted by their own encoding. What printing tells apart is different here as well: `1.0` and
`-0.0` differ from `1` and `0.0`, `Decimal("1.0")` from `Decimal("1.00")`, a time in one zone from the same instant in another.
The bytes are pinned by `tests/vectors/canonical`; a change of any of them makes running jobs fail with a mismatch.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import hashlib
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from flink_agents_subagent._engine.encoding import arrays
from flink_agents_subagent._engine.encoding.kinds import (
    MAX_DEPTH,
    Kind,
    Record,
    Refused,
    kind_of,
    too_deep,
    type_name,
)
from flink_agents_subagent._engine.encoding.plain import encode_float, encode_int, encode_plain, encode_text
from flink_agents_subagent.errors import EncodingError, NotExpressibleError

__all__ = ["canonical", "fingerprint", "input_fingerprint"]

_DIGEST_BYTES = 16
_u32 = struct.Struct(">I").pack
_POSITIONAL, _NO_NAMES = b"t" + _u32(2), b"d" + _u32(0)
_TEXT_ONLY = frozenset({str})


def canonical(value: object, *, strict: bool = False) -> bytes:
    """Return the canonical encoding of a value.

    Guarantee: equal for equal value and type in any process, under any hash seed; different otherwise.

    Args:
        value: Any value. A part of a type that E3.3 does not list contributes its type's name only.
        strict: Refuse such parts instead.

    Raises:
        NotExpressibleError: A part is refused (strict), the value contains itself, or it is nested too deep; carries the path.
    """
    plain = encode_plain(value, MAX_DEPTH)
    if plain is not None:
        return plain
    writer = _Writer(strict=strict)
    try:
        writer.write(value)
    except Refused as refused:
        raise NotExpressibleError(f"cannot encode the value: {refused.describe()}", refused.path) from None
    return bytes(writer.out)


def fingerprint(args: tuple[object, ...], kwargs: Mapping[str, object]) -> bytes:
    """Return the 16-byte fingerprint of a call's arguments (E3.2); the order of keyword arguments does not count."""
    plain = None if kwargs else encode_plain(args, MAX_DEPTH - 1)
    # The most usual case: saves two containers out of three.
    encoded = canonical((args, dict(kwargs))) if plain is None else _POSITIONAL + plain + _NO_NAMES
    return hashlib.blake2b(encoded, digest_size=_DIGEST_BYTES).digest()


def input_fingerprint(value: object) -> bytes:
    """Return the 16-byte fingerprint of a decoded input (E4.4).

    Raises:
        EncodingError: The input has a part that E3.3 does not list, so that two inputs could not be told apart.
    """
    try:
        encoded = canonical(value, strict=True)
    except NotExpressibleError as error:
        raise EncodingError(
            f"the input of a run with durable calls cannot be identified: {error}; "
            "map the stream to plain values, dataclasses or pydantic models before the agent"
        ) from error
    return hashlib.blake2b(encoded, digest_size=_DIGEST_BYTES).digest()


class _Writer:
    """Appends encodings to `out`; `depth` counts the containers that are open."""

    __slots__ = ("depth", "out", "strict")

    def __init__(self, *, strict: bool) -> None:
        self.out = bytearray()
        self.strict = strict
        self.depth = 0

    def write(self, value: Any) -> None:
        kind = type(value)
        (_WRITERS.get(kind) or _KIND_WRITERS.get(kind_of(kind), _write_other))(self, value)

    def text(self, tag: bytes, text: str) -> None:
        self.raw(tag, text.encode("utf-8", "surrogatepass"))

    def raw(self, tag: bytes, data: bytes) -> None:
        self.out += tag + _u32(len(data)) + data

    def apart(self, value: object) -> bytes:
        """Return the encoding of a part by itself, for sorting."""
        outer, self.out = self.out, bytearray()
        try:
            self.write(value)
            return bytes(self.out)
        finally:
            self.out = outer

    def open(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise too_deep()

    def ordered(self, tag: bytes, items: Sequence[object]) -> None:
        self.open()
        self.out += tag + _u32(len(items))
        index = 0
        try:
            for index, item in enumerate(items):  # noqa: B007 - read by the handler
                self.write(item)
        except Refused as refused:
            raise refused.at(f"[{index}]", items) from None
        self.depth -= 1

    def unordered(self, tag: bytes, items: Iterable[object], owner: object) -> None:
        self.open()
        try:
            encoded = sorted(self.apart(item) for item in items)
        except Refused as refused:
            raise refused.at("{…}", owner) from None
        self.out += tag + _u32(len(encoded)) + b"".join(encoded)
        self.depth -= 1

    def pairs(self, pairs: Mapping[Any, object], owner: object) -> None:
        self.open()
        self.out += b"d" + _u32(len(pairs))
        key: Any = None
        try:
            if _TEXT_ONLY.issuperset(map(type, pairs)):
                for key in sorted(pairs):
                    self.out += encode_text(key)
                    self.write(pairs[key])
            else:
                encoded: list[bytes] = []
                for key, value in pairs.items():
                    encoded.append(self.apart(key) + self.apart(value))
                self.out += b"".join(sorted(encoded))
        except Refused as refused:
            raise refused.at(step_of(key), owner) from None
        self.depth -= 1


def step_of(key: object) -> str:
    """Return the path step of a dict key or field."""
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r:.40}]"


def _write_decimal(writer: _Writer, value: Decimal) -> None:
    # Not `str`: its letter for the exponent depends on the decimal context.
    sign, digits, exponent = value.as_tuple()
    writer.text(b"D", f"{sign}:{''.join(map(str, digits))}:{exponent}")


def _write_time(tag: bytes) -> Callable[[_Writer, Any], None]:
    def write(writer: _Writer, value: dt.time | dt.datetime) -> None:
        offset = value.utcoffset()
        zone = "" if offset is None else str(offset // dt.timedelta(microseconds=1))
        writer.text(tag, f"{value.replace(tzinfo=None, fold=0).isoformat()}@{zone}")

    return write


def _write_timedelta(writer: _Writer, value: dt.timedelta) -> None:
    writer.text(b"x", str(value // dt.timedelta(microseconds=1)))


def _write_record(writer: _Writer, value: Record) -> None:
    writer.out += b"r"
    writer.write(value.names)
    writer.ordered(b"t", value.values)


def _write_enum(writer: _Writer, value: enum.Enum) -> None:
    writer.text(b"E", type_name(type(value)))
    # A combination of flags has no name of its own in every Python version; its number says the same.
    writer.write(value.value if isinstance(value, enum.Flag) else value.name)


def _write_namedtuple(writer: _Writer, value: Any) -> None:
    writer.text(b"n", type_name(type(value)))
    writer.pairs(dict(zip(value._fields, value, strict=True)), value)


def _write_dataclass(writer: _Writer, value: Any) -> None:
    writer.text(b"c", type_name(type(value)))
    writer.pairs({f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.compare}, value)


def _write_model(writer: _Writer, value: Any) -> None:
    writer.text(b"p", type_name(type(value)))
    # Private attributes are caches and handles as often as data, so that they do not count.
    data = {name: getattr(value, name) for name in type(value).model_fields}
    writer.pairs({**data, **(value.model_extra or {})}, value)


def _write_numpy_array(writer: _Writer, value: Any) -> None:
    writer.out += b"a"
    writer.write(arrays.descriptor(value.dtype))
    writer.write(tuple(value.shape))
    if value.dtype.names is not None:
        # Field by field: the padding between fields is arbitrary bytes.
        writer.pairs({name: value[name] for name in value.dtype.names}, value)
    elif arrays.has_padded_elements(value.dtype) or value.dtype.hasobject:
        writer.ordered(b"l", arrays.elements(value))
    else:
        writer.raw(b"b", value.tobytes())


def _write_numpy_scalar(writer: _Writer, value: Any) -> None:
    writer.out += b"g"
    if isinstance(value, str | bytes):
        writer.write(arrays.content(value))
    else:
        _write_numpy_array(writer, arrays.as_array(value))


def _write_other(writer: _Writer, value: object) -> None:
    name = type_name(type(value))
    if writer.strict:
        raise Refused(f"a value of type {name}")
    writer.text(b"?", name)


_AnyWriter: TypeAlias = Callable[[_Writer, Any], None]

_WRITERS: dict[type[Any], _AnyWriter] = {
    type(None): lambda w, _: w.out.extend(b"N"),
    bool: lambda w, v: w.out.extend(b"T" if v else b"F"),
    int: lambda w, v: w.out.extend(encode_int(v)),
    float: lambda w, v: w.out.extend(encode_float(v)),
    str: lambda w, v: w.out.extend(encode_text(v)),
    bytes: lambda w, v: w.raw(b"b", v),
    list: lambda w, v: w.ordered(b"l", v),
    tuple: lambda w, v: w.ordered(b"t", v),
    dict: lambda w, v: w.pairs(v, v),
    set: lambda w, v: w.unordered(b"S", v, v),
    frozenset: lambda w, v: w.unordered(b"Z", v, v),
    Decimal: _write_decimal,
    dt.date: lambda w, v: w.text(b"y", v.isoformat()),
    dt.time: _write_time(b"h"),
    dt.datetime: _write_time(b"w"),
    dt.timedelta: _write_timedelta,
    uuid.UUID: lambda w, v: w.raw(b"u", v.bytes),
    Record: _write_record,
}

_KIND_WRITERS: dict[Kind, _AnyWriter] = {
    Kind.ENUM: _write_enum,
    Kind.NAMEDTUPLE: _write_namedtuple,
    Kind.DATACLASS: _write_dataclass,
    Kind.MODEL: _write_model,
    Kind.NUMPY_ARRAY: _write_numpy_array,
    Kind.NUMPY_SCALAR: _write_numpy_scalar,
}
