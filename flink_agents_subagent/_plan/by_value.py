"""What travels by value: one cloudpickle blob, so that a class that several parts use is one class again. Owns the errors of what cannot travel."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import io
import operator
import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import cloudpickle
from pydantic import BaseModel

from flink_agents_subagent._plan.annotations import annotations_of, restore_annotations
from flink_agents_subagent._plan.reference import interpreter, type_name
from flink_agents_subagent.errors import DefinitionError

__all__ = ["ByValuePickler", "Shipment", "pack", "types_of", "unpack"]

_PROTOCOL = 5
_DEPTH = 4


class Shipment(NamedTuple):
    """What a blob holds."""

    objects: Mapping[str, Any]
    """By the text that names each in messages, as in `action 'review'`."""
    types: Mapping[str, type[Any]]
    """Every class that travels by value, by `module:qualified name` (P9)."""


def pack(objects: Mapping[str, Any]) -> bytes:
    """Return a blob of the objects, and of all data types that the job script defines.

    Raises:
        DefinitionError: An object cannot be pickled; names it, and what it holds or uses that cannot (R2).
    """
    try:
        # Which classes travel by value shows only while pickling, hence twice.
        _, found = _dump([objects, list(_script_types())])
        types = _by_name(found)
        blob, _ = _dump((dict(objects), types, annotations_of(types.values())))
    except _pickling_errors as error:
        raise _explained(objects, error) from error
    return blob


def types_of(objects: Iterable[Any]) -> dict[str, type[Any]]:
    """Return the classes that would travel by value with these objects; an object that cannot travel has none."""
    found = [cls for thing in objects if _can_travel(thing) for cls in _dump(thing)[1]]
    return _by_name([*found, *_script_types()])


def unpack(blob: bytes) -> Shipment:
    """Return what a blob holds.

    Raises:
        DefinitionError: A module that it refers to cannot be imported here; names the interpreter and the remedy.
    """
    try:
        objects, types, annotations = pickle.loads(blob)  # noqa: S301 -- the plan is the author's own code
    except (ImportError, AttributeError) as error:
        raise DefinitionError(
            f"the agent refers to what cannot be imported by {interpreter()}: {error}. "
            "Install it there, or ship it with python.files (env.add_python_file, flink run -pyfs)"
        ) from error
    restore_annotations(annotations)
    return Shipment(objects, types)


# What picklers and the `__reduce__` of foreign objects raise.
_pickling_errors = (pickle.PicklingError, TypeError, ValueError, AttributeError, NotImplementedError, RecursionError)


# Marks such as `MISSING`, which dataclasses compares by identity; cloudpickle before 3.1.1 makes copies of them.
_MARKS = {id(mark): name for name, mark in vars(dataclasses).items() if type(mark).__module__ == "dataclasses"}


class ByValuePickler(cloudpickle.CloudPickler):  # type: ignore[misc]  # cloudpickle ships no types
    """Pickles what cannot be imported by value, dataclasses and generic models such that they are again what they were."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=_PROTOCOL)

    def reducer_override(self, thing: Any) -> Any:
        """Name a mark of dataclasses, and make `Model[int]` again by subscription; everything else is cloudpickle's."""
        mark = _MARKS.get(id(thing))
        if mark is not None:
            return getattr, (dataclasses, mark)
        generic = _generic_of(thing)
        return super().reducer_override(thing) if generic is None else (operator.getitem, generic)


def _generic_of(thing: Any) -> tuple[type[Any], tuple[Any, ...]] | None:
    """Return origin and arguments of a generic pydantic model that was given its arguments."""
    if not isinstance(thing, type) or not issubclass(thing, BaseModel):
        return None
    # `BaseModel` itself has none.
    metadata = getattr(thing, "__pydantic_generic_metadata__", None) or {"origin": None}
    return None if metadata["origin"] is None else (metadata["origin"], metadata["args"])


class _RecordingPickler(ByValuePickler):
    """Keeps the classes that cloudpickle takes apart instead of naming them."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.classes: list[type[Any]] = []

    def reducer_override(self, thing: Any) -> Any:
        reduced = super().reducer_override(thing)
        if reduced is not NotImplemented and isinstance(thing, type) and thing.__module__ != "builtins":
            self.classes.append(thing)
        return reduced


def _dump(thing: Any) -> tuple[bytes, list[type[Any]]]:
    file = io.BytesIO()
    pickler = _RecordingPickler(file)
    pickler.dump(thing)
    return file.getvalue(), pickler.classes


def _script_types() -> Iterator[type[Any]]:
    """Find the data types of the job script: an input may hold one that no action mentions (P9)."""
    for value in list(vars(sys.modules["__main__"]).values()):
        if isinstance(value, type) and value.__module__ == "__main__" and _is_data(value) and _can_travel(value):
            yield value


def _is_data(cls: type[Any]) -> bool:
    is_namedtuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    return dataclasses.is_dataclass(cls) or issubclass(cls, BaseModel | enum.Enum | BaseException) or is_namedtuple


def _by_name(classes: list[type[Any]]) -> dict[str, type[Any]]:
    named: dict[str, type[Any]] = {}
    for cls in dict.fromkeys(classes):
        name = type_name(cls)
        # `@dataclass(slots=True)` makes a second class, and methods may keep the first one alive: the script's name decides.
        if name not in named or _is_found_by_name(cls):
            named[name] = cls
    return named


def _is_found_by_name(cls: type[Any]) -> bool:
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls


def _can_travel(thing: Any) -> bool:
    try:
        _dump(thing)
    except _pickling_errors:
        return False
    return True


def _explained(objects: Mapping[str, Any], error: Exception) -> DefinitionError:
    for name, thing in objects.items():
        if not _can_travel(thing):
            path = " → ".join(_path_to_culprit(thing, _DEPTH))
            held = f", because of {path}" if path else ""
            return DefinitionError(
                f"{name} cannot be sent to the TaskManagers{held}: {error}. Create it where it runs instead: "
                "in the open() of a resource, by a ResourceDescriptor, or inside the function"
            )
    return DefinitionError(f"the agent cannot be sent to the TaskManagers: {error}")


def _path_to_culprit(thing: Any, depth: int) -> list[str]:
    for name, value in _parts_of(thing):
        if not _can_travel(value):
            return [f"{name} ({type(value).__qualname__})", *(_path_to_culprit(value, depth - 1) if depth else [])]
    return []


def _parts_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """Go through what a function uses or an instance holds, with the names that the author gave it."""
    if isinstance(thing, Mapping):
        yield from ((str(key), value) for key, value in thing.items())
    elif inspect.ismethod(thing):
        yield from (("self", thing.__self__), (thing.__name__, thing.__func__))
    elif inspect.isfunction(thing):
        used = inspect.getclosurevars(thing)
        yield from {**used.globals, **used.nonlocals}.items()
    elif hasattr(thing, "__dict__"):
        yield from vars(thing).items()
