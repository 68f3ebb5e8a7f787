"""What an agent is called with → what its model reads (A3). Owns the rules; must not know agents, events or models."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from flink_agents_subagent.chat.response import content_of
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.subagents.normalization import normalize

__all__ = ["BoundInput", "bind_input"]


class BoundInput(NamedTuple):
    """An input, bound."""

    fields: Mapping[str, Any]
    """Values by name, for the placeholders of prompts."""
    text: str | None
    """What becomes the user message; None when the prompt says everything."""


def bind_input(value: Any, key: str, placeholders: Sequence[str] = ()) -> BoundInput:
    """Bind an input to the placeholders of a prompt, or to a user message.

    A text is bound to the input key. A mapping, a named row, a pydantic model or a dataclass has its fields by name. What stands under
    the input key becomes the user message, unless a placeholder has that name. Fields that no placeholder names are left out when
    there are placeholders, and refused when there are none, because nothing of them would reach the model.

    Args:
        value: The input.
        key: The input key.
        placeholders: Names that the prompt needs; empty: there is no prompt, or it needs none.

    Raises:
        DefinitionError: Something is missing or left over; says what was expected.
        NotExpressibleError: What stands under the input key is neither text nor JSON; carries the path.
    """
    fields = _fields_of(value, key, placeholders)
    missing = [name for name in placeholders if name not in fields]
    if missing:
        raise DefinitionError(
            f"the input has nothing for {_listed(missing)} of the prompt; {_expected(key, placeholders)}, not {_shown(value, fields)}"
        )
    is_said_by_prompt = key in placeholders or (placeholders and key not in fields)
    if is_said_by_prompt:
        return BoundInput(fields, None)
    if key not in fields or (not placeholders and len(fields) > 1):
        raise DefinitionError(
            f"there is no prompt that names the fields of the input; {_expected(key, placeholders)}, not {_shown(value, fields)}"
        )
    return BoundInput(fields, content_of(normalize(fields[key], key)))


def _fields_of(value: Any, key: str, placeholders: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(value, str):
        return {key: value}
    if isinstance(value, BaseModel) or (dataclasses.is_dataclass(value) and not _is_row(value)):
        value = normalize(value, "input")
    elif _is_row(value) and value.names is not None:
        value = dict(zip(value.names, value.values, strict=True))
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return value
    raise DefinitionError(f"the input is {_shown(value, {})}; {_expected(key, placeholders)}")


def _is_row(value: Any) -> bool:
    # A row is told by what it has: its class belongs to the engine, of which authoring code knows nothing.
    return isinstance(getattr(value, "values", None), tuple) and hasattr(value, "names")


def _expected(key: str, placeholders: Sequence[str]) -> str:
    if not placeholders:
        return f"expected a text, or a mapping whose only key is {key!r}"
    fields = f"a mapping, named row or object with {_listed(placeholders)}"
    return f"expected a text, or {fields}" if set(placeholders) <= {key} else f"expected {fields}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _shown(value: Any, fields: Mapping[str, Any]) -> str:
    """Tell the kind of an input: its content may be confidential."""
    if isinstance(value, str):
        return "a text"
    if _is_row(value) and value.names is None:
        return "a row without names"
    if isinstance(value, Mapping) and not fields:
        return "a mapping with keys that are no texts" if value else "an empty mapping"
    kind = type(value).__qualname__
    return f"a {kind} with {_listed(list(fields))}" if fields else f"of type {kind}"
