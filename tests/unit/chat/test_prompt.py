from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent import DefinitionError, NotExpressibleError
from flink_agents_subagent.chat import ChatMessage, MessageRole, Prompt


def test_places_are_filled_by_name() -> None:
    """Texts as they are, other values as JSON; braces without a name stay [C1]."""
    prompt = Prompt.from_text('Judge {thing} as {"score": 1}, {{thing}}, {limits} and {thing} again')

    (message,) = prompt.format_messages({"thing": "{limits}", "limits": {"b": 1, "a": None}, "other": object()})

    assert message.role is MessageRole.SYSTEM
    assert message.content == 'Judge {limits} as {"score": 1}, {thing}, {"a":null,"b":1} and {limits} again'
    assert prompt.placeholders == ("thing", "limits")


def test_messages_keep_their_roles() -> None:
    """A prompt of several messages gives as many [C1]."""
    messages = [ChatMessage(MessageRole.SYSTEM, "Be {mood}."), ChatMessage(MessageRole.USER, "Hello.")]

    filled = Prompt.from_messages(messages).format_messages({"mood": "kind"})

    assert [(it.role, it.content) for it in filled] == [(MessageRole.SYSTEM, "Be kind."), (MessageRole.USER, "Hello.")]


def test_a_place_without_a_value_is_an_error() -> None:
    """It names the place and what was given [C1]."""
    with pytest.raises(DefinitionError, match=r"no value for 'mood'; it was given \['food'\]"):
        Prompt.from_text("Be {mood}.").format_messages({"food": 1})


def test_a_value_that_is_no_json_is_an_error() -> None:
    """A set has no order, so that its text could differ on a replay [C1]."""
    with pytest.raises(NotExpressibleError, match=r"mood\.a"):
        Prompt.from_text("Be {mood}.").format_messages({"mood": {"a": {1, 2}}})


@pytest.mark.parametrize("text", ["", "  ", None, 7])
def test_a_text_that_says_nothing_is_refused(text: Any) -> None:
    """Where the prompt is made [C1]."""
    with pytest.raises(DefinitionError, match="the text of a prompt"):
        Prompt.from_text(text)


@pytest.mark.parametrize("messages", [[], ["hello"]])
def test_messages_that_are_none_are_refused(messages: Any) -> None:
    """Where the prompt is made [C1]."""
    with pytest.raises(DefinitionError, match="the messages of a prompt"):
        Prompt.from_messages(messages)
