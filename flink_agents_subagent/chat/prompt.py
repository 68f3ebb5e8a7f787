"""Prompts: messages with places to fill in. Must not know models or contexts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flink_agents_subagent.chat.message import ChatMessage, MessageRole
from flink_agents_subagent.chat.response import content_of
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.subagents.normalization import normalize

__all__ = ["Prompt"]

_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages with placeholders `{name}`; a resource of type `PROMPT`, or part of a chat model.

    Braces that hold no name stay as they are, so that JSON may stand in a prompt; `{{` and `}}` stand for one brace.
    """

    messages: tuple[ChatMessage, ...]

    @classmethod
    def from_text(cls, text: str, role: MessageRole = MessageRole.SYSTEM) -> Prompt:
        """Make a prompt of one message, a SYSTEM message unless told otherwise.

        Raises:
            DefinitionError: The text is none, or blank.
        """
        if not isinstance(text, str) or not text.strip():  # type: ignore[redundant-expr]  # what authors pass
            raise DefinitionError(f"the text of a prompt is {text!r}; give a text that is not blank")
        return cls((ChatMessage(role, text),))

    @classmethod
    def from_messages(cls, messages: Sequence[ChatMessage]) -> Prompt:
        """Make a prompt of several messages.

        Raises:
            DefinitionError: There is none, or one is no ChatMessage.
        """
        if not messages or not all(isinstance(message, ChatMessage) for message in messages):
            raise DefinitionError(
                f"the messages of a prompt are {messages!r}; give a list of ChatMessage, at least one"
            )
        return cls(tuple(messages))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of the places, each once, in order."""
        found = (match[1] for message in self.messages for match in _PLACE.finditer(message.content))
        return tuple(dict.fromkeys(name for name in found if name))

    def format_messages(self, arguments: Mapping[str, Any] | None = None) -> list[ChatMessage]:
        """Return the messages with their places filled in.

        Args:
            arguments: Values by name: texts as they are, others as JSON. Those that the prompt does not name are left out.

        Raises:
            DefinitionError: A place has no value; names it.
            NotExpressibleError: A value is neither text nor JSON; carries the path.
        """
        given = arguments or {}
        missing = [name for name in self.placeholders if name not in given]
        if missing:
            raise DefinitionError(
                f"the prompt has no value for {', '.join(map(repr, missing))}; it was given {sorted(given) or 'none'}. "
                "Pass prompt_arguments, or write {{ and }} for braces that are no placeholder"
            )
        texts = {name: content_of(normalize(given[name], name)) for name in self.placeholders}
        return [replace(message, content=_filled(message.content, texts)) for message in self.messages]


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: values[match[1]] if match[1] else match[0][0], text)
