"""The file format as models, and its JSON schema. Owns names and shapes; must not know places in a file or what can be imported."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from flink_agents_subagent.options import OPTIONS, Option, OptionKind

__all__ = [
    "EMPTY",
    "WANTED",
    "ActionEntry",
    "AgentEntry",
    "FileEntry",
    "ResourceEntry",
    "SubagentEntry",
    "render_schema",
]

EMPTY = "empty"
"""Type of the error of a key without a value."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT = r"\S"
_REFERENCE = r"^[^\s:]+:[^\s:]+$"
_EVENT = r"^(InputEvent|[^\s:]+:[^\s:]+)$"
_JAVA_CLASS = r"^[^\s:]+$"

WANTED = {
    _TEXT: "a text that is not blank",
    _REFERENCE: "module:name, as in shop.actions:book",
    _EVENT: "InputEvent, or module:Class of an event of your own",
    _JAVA_CLASS: "the full name of a Java class, as in com.acme.Pricer",
}
"""What the text of each pattern should be."""


def _refuse_nothing(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError(EMPTY, "is empty")
    return value


_Given = BeforeValidator(_refuse_nothing)
_Name = Annotated[str, Field(pattern=_TEXT)]
_Reference: TypeAlias = Annotated[str, Field(pattern=_REFERENCE, examples=["shop.actions:book"])]
_Count = Annotated[int, Field(ge=1)]
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Factor = Annotated[float, Field(ge=1, allow_inf_nan=False)]
_JavaClass = Annotated[str, Field(pattern=_JAVA_CLASS)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ActionEntry(_Entry):
    """A function that an event triggers."""

    function: _Reference = Field(description="The function: called with (event, ctx).")
    name: Annotated[_Name | None, _Given] = Field(None, description="Its name; without it that of the function.")
    events: Annotated[list[Annotated[str, Field(pattern=_EVENT)]] | None, _Given] = Field(
        None,
        min_length=1,
        description="Classes of events, matched exactly; left out when the function is decorated with @action.",
        examples=[["InputEvent"], ["shop.events:Order"]],
    )
    where: Annotated[_Reference | None, _Given] = Field(None, description="Condition: a function of the event.")
    config: dict[str, Any] = Field(
        {}, description="JSON values, given to the action as ctx.config; before those of @action."
    )


class ResourceEntry(_Entry):
    """A resource that is built in each subtask."""

    name: _Name = Field(description="Unique within its type.")
    type: Literal["chat_model", "chat_model_connection", "prompt", "tool", "object"]
    clazz: _Reference = Field(alias="class", description="The class, called with the arguments.")
    args: dict[str, Any] = Field({}, description="Arguments of the constructor by name.")


class RetryEntry(_Entry):
    """How calls are repeated; what is left out is that of RetryPolicy."""

    max_attempts: Annotated[_Count | None, _Given] = Field(None, description="Attempts in all.")
    initial: Annotated[_Seconds | None, _Given] = Field(None, description="Seconds after the first failed attempt.")
    factor: Annotated[_Factor | None, _Given] = Field(None, description="Growth of the pause.")
    max_interval: Annotated[_Seconds | None, _Given] = Field(None, description="Seconds of the longest pause.")
    retry_on: Annotated[list[_Reference] | None, _Given] = Field(
        None, min_length=1, description="Classes of exceptions.", examples=[["builtins:ConnectionError"]]
    )


class SubagentEntry(_Entry):
    """A sub-agent: a class in Python, or one in Java."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["class"]}, {"required": ["java"]}]},
    )

    name: _Name = Field(description="Unique among sub-agents.")
    clazz: Annotated[_Reference | None, _Given] = Field(None, alias="class", description="A SubagentSetup.")
    java: Annotated[_JavaClass | None, _Given] = Field(
        None, description="A Java class instead.", examples=["com.acme.Pricer"]
    )
    args: dict[str, Any] = Field(
        {}, description="Arguments of its own: of the constructor, or of the Java class's open."
    )
    description: Annotated[_Name | None, _Given] = Field(None, description="What it does, for a chat model.")
    input_schema: Annotated[dict[str, Any] | None, _Given] = Field(None, description="JSON schema of the prompt.")
    input_type: Annotated[_Reference | None, _Given] = Field(None, description="Type of the prompt.")
    result_type: Annotated[_Reference | None, _Given] = Field(None, description="Type of the result.")
    timeout: Annotated[_Seconds | None, _Given] = Field(None, description="Seconds for the whole call.")
    retry: Annotated[RetryEntry | None, _Given] = None
    max_concurrency: Annotated[_Count | None, _Given] = Field(None, description="Calls per subtask at a time.")
    rate_limit: Annotated[_Seconds | None, _Given] = Field(None, description="Calls per subtask and second.")
    max_calls_per_run: Annotated[_Count | None, _Given] = Field(None, description="Calls that a run may make.")
    start_timeout: Annotated[_Seconds | None, _Given] = Field(None, description="Seconds until an accepted run starts.")
    cancel_timeout: Annotated[_Seconds | None, _Given] = Field(
        None, description="Seconds for which cancelling is repeated."
    )
    status_poll_interval: Annotated[_Seconds | None, _Given] = Field(
        None, description="Seconds before the first probe."
    )
    status_poll_factor: Annotated[_Factor | None, _Given] = Field(None, description="Growth of the interval.")
    status_poll_max_interval: Annotated[_Seconds | None, _Given] = Field(None, description="Seconds at most.")


class AgentEntry(_Entry):
    """An agent."""

    name: _Name = Field(description="By which it is applied, and savepoints and the store find its state.")
    actions: list[ActionEntry] = Field(min_length=1, description="In the order in which one event starts them.")
    resources: list[ResourceEntry] = Field([], description="Of this agent.")
    subagents: list[SubagentEntry] = Field([], description="Of this agent.")


class FileEntry(_Entry):
    """Agents with durable calls and sub-agents."""

    options: dict[str, Any] = Field({}, description="Options of the job, as by set_option.")
    resources: list[ResourceEntry] = Field([], description="Of every agent of the file.")
    subagents: list[SubagentEntry] = Field([], description="Of every agent of the file.")
    agents: list[AgentEntry] = Field(min_length=1)


def render_schema() -> str:
    """Return the JSON schema of the file format, as it lies in the package."""
    schema = FileEntry.model_json_schema(by_alias=True)
    schema["properties"]["options"] |= _options_schema()
    schema = {"$schema": _DIALECT, **schema, "title": "agents.yaml"}
    return json.dumps(_tidied(schema), indent=2, ensure_ascii=False) + "\n"


def _options_schema() -> dict[str, Any]:
    families = {name: option for name, option in OPTIONS.items() if name.endswith(".*")}
    return {
        "properties": {name: _option_schema(option) for name, option in OPTIONS.items() if name not in families},
        "patternProperties": {
            f"^{name.removesuffix('*').replace('.', '[.]')}.+": _option_schema(option)
            for name, option in families.items()
        },
        "additionalProperties": False,
    }


def _option_schema(option: Option) -> dict[str, Any]:
    if option.choices:
        return {"enum": list(option.choices), "description": option.text}
    types: dict[OptionKind, list[str]] = {
        OptionKind.COUNT: ["integer", "string"],
        OptionKind.SIZE: ["integer", "string"],
        OptionKind.FLAG: ["boolean", "string"],
    }
    return {"type": types.get(option.kind, ["string"]), "description": option.text}


def _tidied(schema: Any) -> Any:
    """Leave out what says nothing to a reader: titles made of names, and the null of what may be left out."""
    if isinstance(schema, list):
        return [_tidied(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    several = schema.get("anyOf", [])
    if {"type": "null"} in several and len(several) == 2:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return _tidied({**next(one for one in several if one != {"type": "null"}), **rest})
    return {key: _tidied(value) for key, value in schema.items() if not _is_idle(key, value, schema)}


def _is_idle(key: str, value: Any, schema: dict[str, Any]) -> bool:
    """Tell what differs between releases of pydantic, or repeats a name."""
    is_name = key == "title" and isinstance(value, str) and "$schema" not in schema
    return is_name or (key == "additionalProperties" and value is True)
