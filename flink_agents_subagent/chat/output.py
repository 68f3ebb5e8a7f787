"""Answers of a model that shall be data: what is asked for, and reading it. Must not know events or conversations."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from flink_agents_subagent.errors import DefinitionError

__all__ = ["OutputMisfit", "OutputSchema", "output_schema", "read_output"]

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """What an answer shall be.

    Names its class instead of holding it, so that it can be recorded like any other data.
    """

    schema: Mapping[str, Any]
    """JSON schema, given to the provider."""
    type_name: str | None = None
    """`module:qualified name` of the class that the answer becomes; None: the JSON value itself."""


class OutputMisfit(Exception):  # noqa: N818 - tells the loop to ask once more; no author meets it
    """An answer is not what was asked for; the text tells the model why."""


def output_schema(given: Any) -> OutputSchema | None:
    """Return what an author asks for.

    Args:
        given: A pydantic model, a dataclass, a JSON schema, or None.

    Raises:
        DefinitionError: It is something else, or its schema cannot be made.
    """
    if given is None or isinstance(given, OutputSchema):
        return given
    if isinstance(given, Mapping) and given:
        return OutputSchema(dict(given))
    if isinstance(given, type) and (issubclass(given, BaseModel) or dataclasses.is_dataclass(given)):
        try:
            schema = TypeAdapter(given).json_schema()
        except PydanticUserError as error:
            raise DefinitionError(f"output_schema {given.__qualname__} has no JSON schema: {error}") from error
        return OutputSchema(schema, f"{given.__module__}:{given.__qualname__}")
    raise DefinitionError(
        f"output_schema is {given!r}; give a pydantic model, a dataclass, or a JSON schema as a dict that is not empty"
    )


def read_output(text: str, wanted: OutputSchema, clazz: type[Any] | None) -> Any:
    """Return what an answer says.

    Args:
        text: The model's answer: JSON, possibly in a fence.
        wanted: What it shall be.
        clazz: The class of `wanted.type_name`.

    Raises:
        OutputMisfit: The answer is something else; says where.
        DefinitionError: The JSON schema is none.
    """
    fenced = _FENCED.fullmatch(text)
    plain = text if fenced is None else fenced[1]
    if clazz is None:
        return _read_json(plain, wanted.schema)
    try:
        return TypeAdapter(clazz).validate_json(plain)
    except ValidationError as error:
        raise OutputMisfit(_told(error)) from error


def _read_json(text: str, schema: Mapping[str, Any]) -> Any:
    # Imported here: only who gives a JSON schema needs it.
    from jsonschema import SchemaError, validators  # noqa: PLC0415

    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise OutputMisfit(f"the answer is no JSON: {error}") from error
    validator = validators.validator_for(schema)
    try:
        validator.check_schema(schema)
    except SchemaError as error:
        raise DefinitionError(f"output_schema is no JSON schema: {error.message}") from error
    misfits = [f"{error.json_path}: {error.message}" for error in validator(schema).iter_errors(value)]
    if misfits:
        raise OutputMisfit("; ".join(misfits[:5]))
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _told(error: ValidationError) -> str:
    several = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in several[:5])
