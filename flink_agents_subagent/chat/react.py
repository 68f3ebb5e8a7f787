"""An agent that asks a chat model until it has an answer (A2-A5). Owns what goes in and what comes out; the loop is that of the built-in actions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flink_agents_subagent.actions import action
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.chat.binding import bind_input
from flink_agents_subagent.chat.event import ChatRequestEvent, ChatResponseEvent
from flink_agents_subagent.chat.message import ChatMessage, MessageRole
from flink_agents_subagent.chat.output import output_schema as output_schema_of
from flink_agents_subagent.chat.prompt import Prompt
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import ChatModelError, DefinitionError
from flink_agents_subagent.events import InputEvent, OutputEvent
from flink_agents_subagent.resources import ResourceDescriptor, ResourceType
from flink_agents_subagent.subagents.metadata import SubagentMetadataProvider
from flink_agents_subagent.subagents.setup import check_description

__all__ = ["ReActAgent", "is_name"]

_INPUT_KEY = "input"
_REQUEST = "react"


def is_own_answer(event: ChatResponseEvent) -> bool:
    """Tell the answer to a ReAct agent's request from others."""
    return event.request_id == _REQUEST


class ReActAgent(SubagentMetadataProvider, Agent):
    """An agent whose model reasons and calls tools and sub-agents until it has the answer.

    Apply it to a stream, or register it as a sub-agent of another agent. It has one action for its input and one for the answer; more may be
    added, as may resources.

    What it is called with becomes the conversation (A3): a text is bound to the input key. A mapping, a named row, a pydantic model or a
    dataclass fills the prompt; what stands under the input key and is not named by the prompt becomes the user message. Without a prompt the
    input is a text, or a mapping with the input key alone.

    Guarantee: one answer for each input: a text, or what `output_schema` says. Without an answer, an error; as a sub-agent, a failed result.
    Replay: no recorded call of the model, a tool or a sub-agent is repeated.
    Thread: any, before submission.
    """

    def __init__(
        self,
        chat_model: str | ResourceDescriptor | BaseChatModelSetup,
        prompt: str | Prompt | None = None,
        output_schema: Any = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | str | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Describe the agent.

        Args:
            chat_model: Name of a resource of type `CHAT_MODEL`; or a model, which the agent then has under its own name.
            prompt: One word is the name of a resource of type `PROMPT`. Other texts are the prompt: instructions (a SYSTEM message), or, with
                placeholders that the input fills, the request (a USER message). Or a `Prompt`.
            output_schema: What the answer shall be: a pydantic model, a dataclass, or a JSON schema; None: a text.
            description: What it does, for the chat models of callers.
            input_schema: JSON schema of an object; None: one text under the input key.
            name: As for `Agent`.

        Raises:
            DefinitionError: An argument cannot work; names it.
        """
        super().__init__(name)
        self._chat_model = self._model_named(chat_model)
        self._prompt = self._prompt_named(prompt)
        self._output_schema = output_schema_of(output_schema)
        check_description(f"agent {self.name!r}", description, input_schema)
        self._description = description
        self._input_schema = input_schema

    @property
    def description(self) -> str | None:
        """See `SubagentMetadataProvider.description`."""
        return self._description

    @property
    def input_schema(self) -> Mapping[str, Any] | str:
        """The schema that was given; otherwise an object with the input key as its one text (A4)."""
        if self._input_schema is not None:
            return self._input_schema
        key = self._key
        return {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}

    @property
    def input_key(self) -> str | None:
        """The field of the input that is the request itself: the only property of a given schema, otherwise `input`."""
        return _only_property(self._input_schema) or _INPUT_KEY

    def subagent_result(self, outputs: list[Any]) -> Any:
        """Return the final answer (A5).

        Raises:
            ChatModelError: There is none.
        """
        if not outputs:
            raise ChatModelError(f"agent {self.name!r} ended without an answer")
        return outputs[-1]

    @action(InputEvent)
    def ask_model(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Begin the conversation."""
        prompt = None if self._prompt is None else ctx.get_resource(self._prompt, ResourceType.PROMPT)
        model = ctx.get_resource(self._chat_model, ResourceType.CHAT_MODEL)
        # What is no setup is refused by the action that asks it.
        of_model = model.placeholders if isinstance(model, BaseChatModelSetup) else ()
        own = () if prompt is None else prompt.placeholders
        bound = bind_input(event.input, self._key, tuple(dict.fromkeys((*of_model, *own))))
        messages = [] if prompt is None else prompt.format_messages(bound.fields)
        if bound.text is not None:
            messages.append(ChatMessage(MessageRole.USER, bound.text))
        ctx.send_event(
            ChatRequestEvent(
                model=self._chat_model,
                messages=messages,
                prompt_arguments=dict(bound.fields),
                output_schema=self._output_schema,
                request_id=_REQUEST,
            )
        )

    @action(ChatResponseEvent, where=is_own_answer)
    def give_answer(self, event: ChatResponseEvent, ctx: RunnerContext) -> None:
        """Send the answer on."""
        if not event.is_success:
            raise ChatModelError(f"agent {self.name!r} has no answer: {event.error}")
        ctx.send_event(OutputEvent(output=event.text if self._output_schema is None else event.output))

    @property
    def _key(self) -> str:
        return self.input_key or _INPUT_KEY

    def _model_named(self, given: Any) -> str:
        if isinstance(given, str) and given.strip():
            return given
        if isinstance(given, ResourceDescriptor | BaseChatModelSetup):
            self.add_resource(self.name, ResourceType.CHAT_MODEL, given)
            return self.name
        raise DefinitionError(
            f"the chat model of agent {self.name!r} is {given!r}; give the name of a resource, a ResourceDescriptor, or a BaseChatModelSetup"
        )

    def _prompt_named(self, given: Any) -> str | None:
        if given is None or (isinstance(given, str) and is_name(given)):
            return given
        if isinstance(given, str) and given.strip():
            instructions = Prompt.from_text(given)
            given = Prompt.from_text(given, MessageRole.USER) if instructions.placeholders else instructions
        if not isinstance(given, Prompt):
            raise DefinitionError(
                f"the prompt of agent {self.name!r} is {given!r}; give a text, the name of a resource (one word), a Prompt, or None"
            )
        self.add_resource(self.name, ResourceType.PROMPT, given)
        return self.name


def is_name(prompt: str) -> bool:
    """Tell whether the prompt of a ReAct agent is the name of a resource: one word without braces."""
    return prompt.split() == [prompt] and "{" not in prompt


def _only_property(schema: Mapping[str, Any] | str | None) -> str | None:
    if schema is None:
        return None
    read = json.loads(schema) if isinstance(schema, str) else schema
    properties = read.get("properties")
    return next(iter(properties)) if isinstance(properties, Mapping) and len(properties) == 1 else None
