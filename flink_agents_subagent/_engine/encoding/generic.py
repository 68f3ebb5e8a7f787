"""Names of generic pydantic models with their arguments: `module:Page[module:Item,builtins:str]`. Owns the syntax; resolves no class.

pydantic makes such a class when it is first written down, and a process that restores a journal may not have come to that. Its origin and its
arguments can be found, and put together again.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from flink_agents_subagent._engine.encoding.kinds import Kind, kind_of, type_name
from flink_agents_subagent.errors import EncodingError

__all__ = ["PLAIN_TYPES", "generic_name", "generic_parts", "make_generic", "split_name"]

PLAIN_TYPES: Final = {
    type_name(cls): cls for cls in (bool, bytes, date, datetime, Decimal, float, int, str, time, timedelta, UUID)
}
"""Classes that may be arguments beside those that a journal can name anyway."""


def generic_parts(cls: type[Any]) -> tuple[type[Any], tuple[Any, ...]] | None:
    """Return origin and arguments of a generic model that has them, None for any other class."""
    if kind_of(cls) is not Kind.MODEL:
        return None
    parts = cls.__pydantic_generic_metadata__
    return None if parts["origin"] is None else (parts["origin"], parts["args"])


def generic_name(origin: str, arguments: list[str]) -> str:
    """Return the name of a generic model with its arguments."""
    return f"{origin}[{','.join(arguments)}]"


def split_name(name: str) -> tuple[str, list[str]] | None:
    """Return the names of origin and arguments, None when the name is not of this form."""
    origin, bracket, rest = name.partition("[")
    if not bracket or not rest.endswith("]"):
        return None
    arguments, depth = [""], 0
    for letter in rest[:-1]:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += letter
    return (origin, arguments) if all(":" in argument for argument in arguments) else None


def make_generic(name: str, origin: type[Any], arguments: tuple[type[Any], ...]) -> type[Any]:
    """Return the class that an origin is with its arguments.

    Raises:
        EncodingError: The origin does not take them any more.
    """
    parameters = origin.__pydantic_generic_metadata__["parameters"] if kind_of(origin) is Kind.MODEL else ()
    if len(parameters) != len(arguments):
        raise EncodingError(
            f"the type {name} cannot be found: {type_name(origin)} takes {len(parameters)} type arguments now"
        )
    made: type[Any] = origin[arguments]
    return made
