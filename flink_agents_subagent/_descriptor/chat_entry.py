"""Entries of chat models and what belongs to them, as models. Owns their names and shapes; must not know places in a file or what can be imported."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from flink_agents_subagent._descriptor.field import Given, Name, Reference, RetryEntry, Seconds, Shape

__all__ = ["ChatModelEntry", "ConnectionEntry", "MessageEntry", "PromptEntry", "ReActEntry", "ToolEntry"]


class ConnectionEntry(Shape):
    """A connection to a provider of chat models."""

    name: Name = Field(description="Unique among connections.")
    clazz: Reference = Field(alias="class", description="A BaseChatModelConnection, called with the arguments.")
    args: dict[str, Any] = Field({}, description="Arguments of the constructor by name.")


class ChatModelEntry(Shape):
    """A chat model, and what it may call."""

    name: Name = Field(description="Unique among chat models.")
    clazz: Annotated[Reference | None, Given] = Field(
        None, alias="class", description="A BaseChatModelSetup; without it that class itself."
    )
    connection: Name = Field(description="Name of a connection.")
    model: Name = Field(description="Name of the model at its provider.")
    prompt: Annotated[Name | None, Given] = Field(None, description="Name of a prompt that begins each conversation.")
    tools: list[Name] = Field([], description="Names of the tools that the model may call.")
    subagents: list[Name] = Field([], description="Names of the sub-agents that the model may call.")
    timeout: Annotated[Seconds | None, Given] = Field(None, description="Seconds for one call of the model.")
    tool_timeout: Annotated[Seconds | None, Given] = Field(None, description="Seconds for one call of a tool.")
    retry: Annotated[RetryEntry | None, Given] = None
    tool_config: dict[str, Any] = Field({}, description="Arguments of tools that the model does not give.")
    args: dict[str, Any] = Field({}, description="What else the provider or the class takes, by name.")


class ToolEntry(Shape):
    """A function that a chat model may call."""

    function: Reference = Field(description="The function; its signature and docstring say what the model gives.")
    name: Annotated[Name | None, Given] = Field(None, description="Its name; without it that of the function.")
    description: Annotated[Name | None, Given] = Field(None, description="For the model; without it the docstring.")
    timeout: Annotated[Seconds | None, Given] = Field(None, description="Seconds for one call.")


class MessageEntry(Shape):
    """A message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: Name = Field(description="Text with placeholders, as in {name}.")


class PromptEntry(Shape):
    """Messages with placeholders."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["messages"]}]})

    name: Name = Field(description="Unique among prompts.")
    text: Annotated[Name | None, Given] = Field(None, description="Of a prompt that is one system message.")
    messages: Annotated[list[MessageEntry] | None, Given] = Field(None, min_length=1, description="Of any other.")


class ReActEntry(Shape):
    """What makes a ReAct agent: its actions ask a chat model until it has the answer."""

    chat_model: Name = Field(description="Name of a chat model.")
    prompt: Annotated[Name | None, Given] = Field(
        None, description="Name of a prompt that the input fills, or its text, which has more than one word."
    )
    output_type: Annotated[Reference | None, Given] = Field(None, description="Class of the answer.")
    output_schema: Annotated[dict[str, Any] | None, Given] = Field(
        None, description="JSON schema of the answer instead; without either it is a text."
    )
    description: Annotated[Name | None, Given] = Field(None, description="What it does, for callers' chat models.")
    input_schema: Annotated[dict[str, Any] | None, Given] = Field(None, description="JSON schema of its input.")
