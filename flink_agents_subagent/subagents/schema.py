"""The JSON schema of what a sub-agent takes: given, or made of its input type (T4, T13). Must not know who offers it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from flink_agents_subagent.errors import DefinitionError

__all__ = ["schema_offered"]

_REMEDY = "give an explicit input_schema"
_DEFINITIONS = "#/$defs/"


def schema_offered(
    owner: str, input_schema: Mapping[str, Any] | str | None, input_type: Any
) -> Mapping[str, Any] | None:
    """Return what a chat model is offered: the explicit schema as it was given, else that of the type (T4).

    Returns:
        None when there is neither, or the type is no object (T2).

    Raises:
        DefinitionError: The type cannot be rendered, or refers to itself; names `owner`, the type and the remedy (T13).
    """
    if input_schema is not None:
        explicit: Mapping[str, Any] = json.loads(input_schema) if isinstance(input_schema, str) else dict(input_schema)
        return explicit
    if input_type is None:
        return None
    schema = _schema_of_type(owner, input_type)
    return schema if schema.get("type") == "object" else None


def _schema_of_type(owner: str, input_type: Any) -> Mapping[str, Any]:
    """Return the schema of an input type.

    Raises:
        DefinitionError: It cannot be rendered, or refers to itself; names `owner`, the type and the remedy.
    """
    shown = getattr(input_type, "__qualname__", repr(input_type))
    try:
        schema = TypeAdapter(input_type).json_schema()
    except (PydanticUserError, SchemaError, TypeError, NameError) as error:
        raise DefinitionError(
            f"the input type {shown} of {owner} cannot be rendered as a JSON schema: {_first_line(error)}; {_REMEDY}"
        ) from error
    if _refers_to_itself(schema):
        raise DefinitionError(
            f"the input type {shown} of {owner} refers to itself, which no model can be offered; {_REMEDY}"
        )
    return schema


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", maxsplit=1)[0]


def _refers_to_itself(schema: Mapping[str, Any]) -> bool:
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    refers = {name: set(_references(definition)) for name, definition in definitions.items()}
    return any(_comes_back(name, name, refers, set()) for name in refers)


def _comes_back(start: str, name: str, refers: Mapping[str, set[str]], seen: set[str]) -> bool:
    if start in refers[name]:
        return True
    following = refers[name] - seen
    seen |= following
    return any(_comes_back(start, other, refers, seen) for other in following)


def _references(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        reference = tree.get("$ref")
        if isinstance(reference, str) and reference.startswith(_DEFINITIONS):
            yield reference.removeprefix(_DEFINITIONS)
        for value in tree.values():
            yield from _references(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _references(value)
