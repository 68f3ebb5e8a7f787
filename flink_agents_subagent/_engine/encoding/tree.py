"""From a value to a tree of plain JSON and byte frames (decision 0002). The way back is `untree.py`."""

from __future__ import annotations

import datetime as dt
import enum
import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from flink_agents_subagent._engine.encoding import arrays, zones
from flink_agents_subagent._engine.encoding.canonical import canonical, step_of
from flink_agents_subagent._engine.encoding.exceptions import plan_of
from flink_agents_subagent._engine.encoding.kinds import (
    MAX_DEPTH,
    Kind,
    Record,
    Refused,
    field_names,
    too_deep,
    type_name,
)
from flink_agents_subagent._engine.encoding.registry import TypeRegistry
from flink_agents_subagent.errors import NotExpressibleError

__all__ = ["TreeWriter", "is_plain"]

Tree: TypeAlias = Any
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1


def is_plain(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Tell whether JSON stands for the value as it is, so that no tree has to be built."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(_MIN_INT <= value <= _MAX_INT)
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return _are_plain(value, depth - 1)
    if kind is dict:
        return _is_plain_object(value, depth - 1)
    return False


# Loops, because a generator costs twice as much, and these run for every value.


def _are_plain(items: Sequence[Any], depth: int) -> bool:
    if depth < 0:
        return False
    for item in items:  # noqa: SIM110 - see above
        if not is_plain(item, depth):
            return False
    return True


def _is_plain_object(members: Mapping[Any, Any], depth: int) -> bool:
    if depth < 0:
        return False
    for name, item in members.items():
        if type(name) is not str or name[:1] == "$" or not (type(item) is str or is_plain(item, depth)):
            return False
    return True


class TreeWriter:
    """Builds one tree; `frames` fills up with the bytes that it refers to."""

    __slots__ = ("_depth", "_pickle", "_registry", "frames")

    def __init__(self, registry: TypeRegistry, pickle: Callable[[object], bytes] | None) -> None:
        """Build with these names; `pickle` takes what has no other form, None refuses it."""
        self.frames: list[bytes] = []
        self._registry = registry
        self._pickle = pickle
        self._depth = 0

    def tree(self, value: Any) -> Tree:
        """Return the tree of a value; raises `Refused`."""
        kind = type(value)
        if kind is str:
            return value
        write = _WRITERS.get(kind)
        if write is None:
            write = _KIND_WRITERS.get(self._registry.kind_of(kind), TreeWriter._other)
        return write(self, value)

    def frame(self, data: bytes) -> int:
        self.frames.append(data)
        return len(self.frames) - 1

    def named(self, value: object, tag: str, *parts: Callable[[], Tree]) -> Tree:
        """Return the tree of a value of a named type, or its pickle when no later process could find the type."""
        try:
            name = self._registry.name_of(type(value))
        except Refused:
            if self._pickle is None:
                raise
            return self._other(value)
        return {tag: [name, *(part() for part in parts)]}

    def items(self, items: Sequence[Any]) -> list[Tree]:
        self._open()
        trees: list[Tree] = []
        try:
            for item in items:
                trees.append(self.tree(item))  # noqa: PERF401 - its length tells the index to the handler
        except Refused as refused:
            raise refused.at(f"[{len(trees)}]", items) from None
        self._depth -= 1
        return trees

    def mapping(self, pairs: Iterable[tuple[Any, Any]], owner: object) -> Tree:
        self._open()
        trees: list[list[Tree]] = []
        is_object, key = True, None
        try:
            for key, item in pairs:
                is_object = is_object and type(key) is str and key[:1] != "$"
                # Text is told here as well, because nearly every field is one and a call takes longer than the question.
                tree = item if type(item) is str or item is None else self.tree(item)
                trees.append([key if type(key) is str else self.tree(key), tree])
        except Refused as refused:
            raise refused.at(step_of(key), owner) from None
        self._depth -= 1
        return dict(trees) if is_object else {"$dict": trees}

    def fields(self, value: object, names: Iterable[str]) -> dict[str, Tree]:
        """Return the fields of a dataclass, whose names are identifiers: nothing among them looks like a tag."""
        self._open()
        trees: dict[str, Tree] = {}
        name = ""
        try:
            for name in names:
                item = getattr(value, name)
                trees[name] = item if type(item) is str or item is None else self.tree(item)
        except Refused as refused:
            raise refused.at(step_of(name), value) from None
        self._depth -= 1
        return trees

    def unordered(self, items: Iterable[Any]) -> list[Tree]:
        # Sorted, so that a set has the same bytes under every hash seed.
        try:
            ordered = sorted(items, key=canonical)
        except NotExpressibleError:
            raise too_deep() from None
        return self.items(ordered)

    def _open(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise too_deep()

    def _other(self, value: object) -> Tree:
        if self._pickle is None:
            raise Refused(f"a value of type {type_name(type(value))}")
        return {"$pickle": self.frame(self._pickle(value))}


def _write_int(_: TreeWriter, value: int) -> Tree:
    # Hexadecimal has no limit on digits; Python's decimal one depends on a setting of the process.
    return value if _MIN_INT <= value <= _MAX_INT else {"$int": hex(value)}


def _write_float(_: TreeWriter, value: float) -> Tree:
    return value if math.isfinite(value) else {"$float": repr(value)}


def _write_record(writer: TreeWriter, value: Record) -> Tree:
    names = None if value.names is None else list(value.names)
    return {"$record": [names, writer.items(value.values)]}


def _write_enum(writer: TreeWriter, value: enum.Enum) -> Tree:
    # A combination of flags has no name of its own in every Python version.
    return writer.named(value, "$enum", lambda: value.value if isinstance(value, enum.Flag) else value.name)


def _write_namedtuple(writer: TreeWriter, value: Any) -> Tree:
    return writer.named(value, "$nt", lambda: writer.items(value))


def _write_dataclass(writer: TreeWriter, value: Any) -> Tree:
    return writer.named(value, "$dc", lambda: writer.fields(value, field_names(type(value))))


def _write_model(writer: TreeWriter, value: Any) -> Tree:
    fields = ((name, getattr(value, name)) for name in type(value).model_fields)
    extra, private = value.model_extra, value.__pydantic_private__
    return writer.named(
        value,
        "$model",
        lambda: writer.mapping(fields, value),
        lambda: sorted(value.model_fields_set),
        lambda: None if extra is None else writer.mapping(extra.items(), value),
        lambda: None if private is None else writer.mapping(private.items(), value),
    )


def _write_exception(writer: TreeWriter, value: BaseException) -> Tree:
    plan = plan_of(value)
    if plan is None:
        return writer._other(value)
    return writer.named(
        value,
        "$error",
        lambda: plan.how,
        lambda: writer.items(plan.args),
        lambda: writer.mapping(plan.state.items(), value),
        lambda: plan.message,
    )


def _write_array(writer: TreeWriter, value: Any) -> Tree:
    shape, dtype = list(value.shape), value.dtype
    if dtype.names is None and dtype.hasobject:
        return {"$objects": [shape, writer.items(arrays.elements(value))]}
    if dtype.hasobject:
        raise Refused("a numpy array with fields that are Python objects")
    description = writer.tree(arrays.descriptor(dtype))
    return {"$ndarray": [description, shape, writer.frame(arrays.array_bytes(value))]}


def _write_scalar(writer: TreeWriter, value: Any) -> Tree:
    if isinstance(value, str):
        return {"$npstr": arrays.content(value)}
    if isinstance(value, bytes):
        return {"$npbytes": writer.frame(arrays.content(value))}
    return {"$np": _write_array(writer, arrays.as_array(value))}


_AnyWriter: TypeAlias = Callable[[TreeWriter, Any], Tree]

_WRITERS: dict[type[Any], _AnyWriter] = {
    type(None): lambda _, v: v,
    bool: lambda _, v: v,
    int: _write_int,
    float: _write_float,
    str: lambda _, v: v,
    bytes: lambda w, v: {"$bytes": w.frame(v)},
    list: lambda w, v: w.items(v),
    tuple: lambda w, v: {"$tuple": w.items(v)},
    dict: lambda w, v: w.mapping(v.items(), v),
    set: lambda w, v: {"$set": w.unordered(v)},
    frozenset: lambda w, v: {"$frozenset": w.unordered(v)},
    Decimal: lambda _, v: {"$decimal": str(v)},
    dt.date: lambda _, v: {"$date": v.isoformat()},
    dt.time: lambda _, v: {"$time": zones.describe(v)},
    dt.datetime: lambda _, v: {"$datetime": zones.describe(v)},
    dt.timedelta: lambda _, v: {"$timedelta": [v.days, v.seconds, v.microseconds]},
    uuid.UUID: lambda _, v: {"$uuid": str(v)},
    Record: _write_record,
}

_KIND_WRITERS: dict[Kind, _AnyWriter] = {
    Kind.ENUM: _write_enum,
    Kind.EXCEPTION: _write_exception,
    Kind.NAMEDTUPLE: _write_namedtuple,
    Kind.DATACLASS: _write_dataclass,
    Kind.MODEL: _write_model,
    Kind.NUMPY_ARRAY: _write_array,
    Kind.NUMPY_SCALAR: _write_scalar,
}
