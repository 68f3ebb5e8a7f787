"""Which class a recorded name means. Owns the rule that a journal can only name data classes, never call code."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, get_args

from flink_agents_subagent._engine.encoding.generic import (
    PLAIN_TYPES,
    generic_name,
    generic_parts,
    make_generic,
    split_name,
)
from flink_agents_subagent._engine.encoding.kinds import Kind, Refused, kind_of, type_name
from flink_agents_subagent.errors import EncodingError

__all__ = ["TypeRegistry"]

_REBUILDABLE = frozenset({Kind.ENUM, Kind.EXCEPTION, Kind.MODEL, Kind.DATACLASS, Kind.NAMEDTUPLE})


class TypeRegistry:
    """Names of classes, both ways.

    Guarantee: a name resolves to an enum, exception, pydantic model, dataclass or namedtuple, or not at all. Types that
    were shipped by value with the job win over what the same name would import.
    Thread: one thread.
    """

    def __init__(self, types: Mapping[str, type[Any]]) -> None:
        """Keep the job's by-value types, by `module:qualified name`."""
        self._types = dict(types)
        self._names: dict[type[Any], str] = {}
        self._imported: dict[str, type[Any]] = {}
        self._kinds: dict[type[Any], Kind] = {}

    def name_of(self, cls: type[Any]) -> str:
        """Return the name under which a class is found again; refuses a class that a later process could not find."""
        name = self._names.get(cls)
        if name is None:
            name = self._names[cls] = self._checked_name(cls)
        return name

    def kind_of(self, cls: type[Any]) -> Kind:
        """Return the kind of a class. Remembered here too, for as long as the job's types are: the weak table of all jobs is slow."""
        kind = self._kinds.get(cls)
        if kind is None:
            kind = self._kinds[cls] = kind_of(cls)
        return kind

    def resolve(self, name: str) -> type[Any]:
        """Return the class with this name.

        Raises:
            EncodingError: There is no such class, or it is not data.
        """
        cls = self._types.get(name) or self._imported.get(name)
        if cls is None:
            cls = self._imported[name] = self._found(name)
        return cls

    def _found(self, name: str) -> type[Any]:
        parts = split_name(name)
        if parts is None:
            return _import_class(name)
        origin, arguments = parts
        found = tuple(PLAIN_TYPES.get(argument) or self.resolve(argument) for argument in arguments)
        return make_generic(name, self.resolve(origin), found)

    def _checked_name(self, cls: type[Any]) -> str:
        name = type_name(cls)
        # Copies of one class shipped by value are the same class by name.
        if name in self._types:
            return name
        parts = generic_parts(cls)
        if parts is not None:
            return generic_name(self.name_of(parts[0]), [self._argument_name(cls, it) for it in parts[1]])
        try:
            found = _import_class(name)
        except EncodingError as error:
            raise Refused(f"a value of type {name}, which no later process could find ({error}),") from error
        if found is not cls:
            raise Refused(f"a value of type {name}, a name under which another class is found,")
        return name

    def _argument_name(self, cls: type[Any], argument: Any) -> str:
        if isinstance(argument, type) and not get_args(argument):
            return type_name(argument) if type_name(argument) in PLAIN_TYPES else self.name_of(argument)
        raise Refused(
            f"a value of type {type_name(cls)}, whose argument {argument} has no name that a later process could find "
            f"(give it one: class Named({cls.__name__}): pass),"
        )


def _import_class(name: str) -> type[Any]:
    module, separator, path = name.partition(":")
    if not separator or not module or not path or module[0] == ".":
        raise EncodingError(f"{name!r} is not the name of a type (module:qualified name)")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise EncodingError(
            f"the type {name} cannot be found: {error}; define it at the top level of a module that is shipped with the job"
        ) from error
    if not isinstance(found, type) or kind_of(found) not in _REBUILDABLE:
        raise EncodingError(f"{name} is not an enum, exception, pydantic model, dataclass or namedtuple")
    return found
