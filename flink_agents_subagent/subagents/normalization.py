"""What JSON can express, and where a value is something else (T9). The same rule, paths and messages as in Java's `Normalization`.

Shared vectors pin them (`tests/vectors/normalization`). Must not know where values come from or go to.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter

from flink_agents_subagent.errors import NotExpressibleError

__all__ = ["MAX_DEPTH", "MAX_INTEGER_BITS", "normalize"]

MAX_DEPTH = 64
"""Levels of containers. Less than what a journal takes, so that whatever passes here can be recorded."""
MAX_INTEGER_BITS = 4096

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def normalize(value: Any, root: str, declared: Any = None) -> Any:
    """Return a copy of a value that is made of dicts, lists and plain values.

    A model or dataclass that is the value itself is of a declared type: it is rendered by pydantic first, with all that is in
    it. Inside a tree it is a foreign object.

    Args:
        value: What is to be expressed.
        root: How messages and paths name the value itself, as in `result`.
        declared: A type that the value has, models inside of it included, as in `list[Answer]`; None: what the value itself says.

    Raises:
        NotExpressibleError: Text that is no key, NaN, an infinity, a foreign object, a cycle, too many levels or bits; carries
            the path, as in `result.a[0].b`.
    """
    place = _Place(None, root)
    return _Visit().visit(_rendered(value, place, declared), place)


class _Place(NamedTuple):
    """A step on the way from the root; becomes text only in a message."""

    parent: _Place | None
    step: str

    def member(self, name: str) -> _Place:
        if _PLAIN_NAME.fullmatch(name):
            return _Place(self, f".{name}")
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        return _Place(self, f'["{quoted}"]')

    def item(self, index: int) -> _Place:
        return _Place(self, f"[{index}]")

    def path(self) -> str:
        return ("" if self.parent is None else self.parent.path()) + self.step

    def refused(self, what: str) -> NotExpressibleError:
        path = self.path()
        return NotExpressibleError(f"{path} {what}", path)


class _Visit:
    """One walk through one value."""

    def __init__(self) -> None:
        self._open: set[int] = set()

    def visit(self, value: Any, place: _Place) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum) or hasattr(type(value), "_fields"):
            # Enums may be numbers or text too, named tuples are tuples: objects all the same.
            raise _foreign(value, place)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, int):
            return _integer(int(value), place)
        if isinstance(value, float):
            return _finite(float(value), place)
        if isinstance(value, dict | list | tuple):
            return self._container(value, place)
        raise _foreign(value, place)

    def _container(self, value: dict[Any, Any] | list[Any] | tuple[Any, ...], place: _Place) -> Any:
        if id(value) in self._open:
            raise place.refused("contains itself")
        self._open.add(id(value))
        if len(self._open) > MAX_DEPTH:
            raise place.refused(f"is nested deeper than {MAX_DEPTH} levels")
        normal: Any
        if isinstance(value, dict):
            normal = self._mapping(value, place)
        else:
            normal = [self.visit(item, place.item(index)) for index, item in enumerate(value)]
        self._open.remove(id(value))
        return normal

    def _mapping(self, value: Mapping[Any, Any], place: _Place) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, member in value.items():
            if not isinstance(name, str) or isinstance(name, enum.Enum):
                raise place.refused(f"has a key that is no text: {_shown_key(name)}")
            members[str(name)] = self.visit(member, place.member(name))
        return members


def _integer(value: int, place: _Place) -> int:
    if value.bit_length() > MAX_INTEGER_BITS:
        raise place.refused(f"is a whole number of more than {MAX_INTEGER_BITS} bits")
    return value


def _finite(value: float, place: _Place) -> float:
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        raise place.refused(f"is {name}, which JSON cannot express")
    return value


def _foreign(value: object, place: _Place) -> NotExpressibleError:
    return place.refused(f"is of type {type(value).__qualname__}, which JSON cannot express")


def _shown_key(key: object) -> str:
    if key is None:
        return "null"
    if isinstance(key, bool):
        return str(key).lower()
    return str(key) if type(key) is int else f"of type {type(key).__qualname__}"


def _rendered(value: Any, place: _Place, declared: Any) -> Any:
    is_typed = isinstance(value, BaseModel) or (dataclasses.is_dataclass(value) and not isinstance(value, type))
    if not is_typed and declared is None:
        return value
    adapter = TypeAdapter(type(value) if is_typed else declared)
    try:
        # Rendering writes null for some of the numbers that are none, so that they have to be looked for before.
        _check_numbers(adapter.dump_python(value, by_alias=True), place)
        return adapter.dump_python(value, mode="json", by_alias=True)
    except ValueError as error:
        raise place.refused(f"cannot be rendered as JSON: {error}") from error


def _check_numbers(value: Any, place: _Place) -> None:
    if isinstance(value, float):
        _finite(value, place)
    elif isinstance(value, Mapping):
        for name, member in value.items():
            _check_numbers(member, place.member(str(name)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_numbers(item, place.item(index))
