"""The file format as models, and its JSON schema. Owns names and shapes; must not know places in a file or what can be imported."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from flink_agents_subagent._descriptor.chat_entry import (
    ChatModelEntry,
    ConnectionEntry,
    PromptEntry,
    ReActEntry,
    ToolEntry,
)
from flink_agents_subagent._descriptor.field import (
    EVENT,
    Count,
    Factor,
    Given,
    JavaClass,
    Name,
    Reference,
    RetryEntry,
    Seconds,
    Shape,
)
from flink_agents_subagent.options import OPTIONS, Option, OptionKind

__all__ = [
    "ActionEntry",
    "AgentEntry",
    "FileEntry",
    "ResourceEntry",
    "SubagentEntry",
    "render_schema",
]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class ActionEntry(Shape):
    """A function that an event triggers."""

    function: Reference = Field(description="The function: called with (event, ctx).")
    name: Annotated[Name | None, Given] = Field(None, description="Its name; without it that of the function.")
    events: Annotated[list[Annotated[str, Field(pattern=EVENT)]] | None, Given] = Field(
        None,
        min_length=1,
        description="Classes of events, matched exactly; left out when the function is decorated with @action.",
        examples=[["InputEvent"], ["shop.events:Order"]],
    )
    where: Annotated[Reference | None, Given] = Field(None, description="Condition: a function of the event.")
    config: dict[str, Any] = Field(
        {}, description="JSON values, given to the action as ctx.config; before those of @action."
    )


class ResourceEntry(Shape):
    """A resource that is built in each subtask."""

    name: Name = Field(description="Unique within its type.")
    type: Literal["chat_model", "chat_model_connection", "prompt", "tool", "object"]
    clazz: Reference = Field(alias="class", description="The class, called with the arguments.")
    args: dict[str, Any] = Field({}, description="Arguments of the constructor by name.")


class SubagentEntry(Shape):
    """A sub-agent: a class in Python, one in Java, or an agent of the file."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["class"]}, {"required": ["java"]}, {"required": ["agent"]}]},
    )

    name: Name = Field(description="Unique among sub-agents.")
    clazz: Annotated[Reference | None, Given] = Field(None, alias="class", description="A SubagentSetup.")
    java: Annotated[JavaClass | None, Given] = Field(
        None, description="A Java class instead.", examples=["com.acme.Pricer"]
    )
    agent: Annotated[Name | None, Given] = Field(
        None, description="An agent of the file instead; it describes itself, so that there are no other keys."
    )
    args: dict[str, Any] = Field(
        {}, description="Arguments of its own: of the constructor, or of the Java class's open."
    )
    description: Annotated[Name | None, Given] = Field(None, description="What it does, for a chat model.")
    input_schema: Annotated[dict[str, Any] | None, Given] = Field(None, description="JSON schema of the prompt.")
    input_type: Annotated[Reference | None, Given] = Field(None, description="Type of the prompt.")
    result_type: Annotated[Reference | None, Given] = Field(None, description="Type of the result.")
    timeout: Annotated[Seconds | None, Given] = Field(None, description="Seconds for the whole call.")
    retry: Annotated[RetryEntry | None, Given] = None
    max_concurrency: Annotated[Count | None, Given] = Field(None, description="Calls per subtask at a time.")
    rate_limit: Annotated[Seconds | None, Given] = Field(None, description="Calls per subtask and second.")
    max_calls_per_run: Annotated[Count | None, Given] = Field(None, description="Calls that a run may make.")
    start_timeout: Annotated[Seconds | None, Given] = Field(None, description="Seconds until an accepted run starts.")
    cancel_timeout: Annotated[Seconds | None, Given] = Field(
        None, description="Seconds for which cancelling is repeated."
    )
    status_poll_interval: Annotated[Seconds | None, Given] = Field(None, description="Seconds before the first probe.")
    status_poll_factor: Annotated[Factor | None, Given] = Field(None, description="Growth of the interval.")
    status_poll_max_interval: Annotated[Seconds | None, Given] = Field(None, description="Seconds at most.")


class _ResourceLists(Shape):
    """What an agent has for itself, and the file for every agent in it."""

    chat_model_connections: list[ConnectionEntry] = Field([], description="Connections to providers.")
    chat_models: list[ChatModelEntry] = Field([], description="Chat models.")
    tools: list[ToolEntry] = Field([], description="Functions that chat models may call.")
    prompts: list[PromptEntry] = Field([], description="Prompts.")
    resources: list[ResourceEntry] = Field([], description="Resources of other kinds.")
    subagents: list[SubagentEntry] = Field([], description="Sub-agents.")


class AgentEntry(_ResourceLists):
    """An agent, with its own resources."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["actions"]}, {"required": ["react"]}]})

    name: Name = Field(description="By which it is applied, and savepoints and the store find its state.")
    react: Annotated[ReActEntry | None, Given] = None
    actions: Annotated[list[ActionEntry] | None, Given] = Field(
        None, min_length=1, description="In the order in which one event starts them."
    )


class FileEntry(_ResourceLists):
    """Agents with durable calls and sub-agents; resources beside them are of every agent of the file."""

    options: dict[str, Any] = Field({}, description="Options of the job, as by set_option.")
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
