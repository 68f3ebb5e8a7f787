"""Which kind of class a value has, and how a refusal finds its path. Owns no encoding."""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel

__all__ = ["MAX_DEPTH", "Kind", "Record", "Refused", "field_names", "kind_of", "type_name"]

MAX_DEPTH = 100
"""Deepest nesting of containers. Low enough that neither our recursion nor that of the JSON parser meets the
interpreter's limit when an action calls us from deep inside its own stack."""

_BUILTIN_CONTENT = (str, int, float, complex, bytes, bytearray, list, tuple, dict, set, frozenset)


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """A row of a Flink table or a PyFlink `Row`: values, with or without names.

    Guarantee: equal when names and values are equal; keeps its type in journals and memory.
    """

    names: tuple[str, ...] | None
    """Field names in order, or None for a row without names."""
    values: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, field: int | str) -> Any:
        if isinstance(field, int):
            return self.values[field]
        if self.names is None or field not in self.names:
            raise KeyError(f"the record has no field {field!r}; it has {self.names or 'no names'}")
        return self.values[self.names.index(field)]


class Kind(enum.Enum):
    """The kinds of class that are encoded by their name and parts."""

    ENUM = "enum"
    EXCEPTION = "exception"
    MODEL = "pydantic model"
    DATACLASS = "dataclass"
    NAMEDTUPLE = "namedtuple"
    NUMPY_SCALAR = "numpy scalar"
    NUMPY_ARRAY = "numpy array"
    OTHER = "other"


class Refused(Exception):  # noqa: N818 - control flow inside this package, never an error that a user meets
    """A value cannot be encoded; containers add their part of the path while it passes through them."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self._steps: list[tuple[str, int]] = []

    def at(self, step: str, container: object) -> Refused:
        """Add the step that leads into the refused value, from the inside outwards."""
        self._steps.append((step, id(container)))
        return self

    @property
    def path(self) -> str:
        """The path from the root, `$`, to the refused value; cut where a container meets itself again."""
        path, seen = "$", set[int]()
        for step, container in reversed(self._steps):
            if container in seen:
                return path
            seen.add(container)
            path += step
        return path

    @property
    def is_cycle(self) -> bool:
        """Whether a container on the path contains itself."""
        containers = [container for _, container in self._steps]
        return len(set(containers)) < len(containers)

    def describe(self) -> str:
        """Say in one clause what is wrong where."""
        if self.is_cycle:
            return f"the value at {self.path} contains itself"
        return f"{self.reason} at {self.path}"


def too_deep() -> Refused:
    """Return the refusal of a value that is nested too deep, or that is cyclic."""
    return Refused(f"nesting deeper than {MAX_DEPTH} containers")


def type_name(cls: type[Any]) -> str:
    """Return `module:qualified name`, the name of a class in journals and plans."""
    return f"{cls.__module__}:{cls.__qualname__}"


# Weak, so that classes shipped by value go when their job is restarted in the same process.
_kinds: WeakKeyDictionary[type[Any], Kind] = WeakKeyDictionary()


def kind_of(cls: type[Any]) -> Kind:
    """Return the kind of a class; `OTHER` for built-in types and for classes that hide content behind their fields."""
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = _classify(cls)
    return kind


_field_names: WeakKeyDictionary[type[Any], tuple[str, ...]] = WeakKeyDictionary()


def field_names(cls: type[Any]) -> tuple[str, ...]:
    """Return the names of a dataclass's fields."""
    names = _field_names.get(cls)
    if names is None:
        names = _field_names[cls] = tuple(field.name for field in dataclasses.fields(cls))
    return names


def _classify(cls: type[Any]) -> Kind:
    if issubclass(cls, enum.Enum):
        return Kind.ENUM
    if issubclass(cls, BaseException):
        return Kind.EXCEPTION
    if issubclass(cls, BaseModel):
        return Kind.MODEL
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make"):
        return Kind.NAMEDTUPLE
    if dataclasses.is_dataclass(cls) and not issubclass(cls, _BUILTIN_CONTENT):
        return Kind.DATACLASS
    return _classify_numpy(cls)


def _classify_numpy(cls: type[Any]) -> Kind:
    # A value of a numpy type exists only where numpy was imported, so that we never import it ourselves to look.
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "generic"):
        return Kind.OTHER
    if cls is numpy.ndarray:
        return Kind.NUMPY_ARRAY
    return Kind.NUMPY_SCALAR if issubclass(cls, numpy.generic) else Kind.OTHER
