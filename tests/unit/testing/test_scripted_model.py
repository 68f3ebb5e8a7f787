from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent import ChatModelError, ChatModelUnavailableError, DefinitionError
from flink_agents_subagent.chat import ChatMessage, MessageRole, ToolCall, ToolMetadata
from flink_agents_subagent.testing import ScriptedModel

QUESTION = ChatMessage(MessageRole.USER, "hello")


def ask(model: ScriptedModel, *messages: ChatMessage, **kwargs: Any) -> ChatMessage:
    """Ask once."""
    return asyncio.run(model.chat([QUESTION, *messages], [], **kwargs))


def test_the_answer_depends_on_the_conversation_alone() -> None:
    """Asked again, as after a crash, it answers the same; the n-th answer comes when it has spoken n times [C1]."""
    model = ScriptedModel(["first", "second"])
    first = ask(model)

    assert (first.role, first.content) == (MessageRole.ASSISTANT, "first")
    assert ask(model) == first
    assert ask(model, first).content == "second"
    assert ask(ScriptedModel(["first", "second"]), first).content == "second"


def test_an_answer_may_be_a_message_calls_or_a_function() -> None:
    """A function gets the messages and may be asynchronous [C1]."""
    add = ToolCall("1", "add", {"a": 1})
    message = ChatMessage(MessageRole.ASSISTANT, "x", extra_args={"usage": 3})

    async def later(messages: Any) -> ToolCall:
        return add

    assert ask(ScriptedModel([message])) == message
    assert ask(ScriptedModel([add])).tool_calls == (add,)
    assert ask(ScriptedModel([[add, add]])).tool_calls == (add, add)
    assert ask(ScriptedModel([later])).tool_calls == (add,)
    assert ask(ScriptedModel([lambda messages: messages[-1].content])).content == "hello"


def test_an_exception_is_raised_at_every_attempt() -> None:
    """Nothing is counted [C1]."""
    model = ScriptedModel([ChatModelUnavailableError("busy")])

    for _ in range(2):
        with pytest.raises(ChatModelUnavailableError, match="busy"):
            ask(model)


def test_it_keeps_what_it_was_asked() -> None:
    """Messages, callables and parameters, in the order of the calls [C1]."""
    model = ScriptedModel(["x"])
    tool = ToolMetadata("add", "Add.", {"type": "object"})

    asyncio.run(model.chat([QUESTION], [tool], temperature=0))

    (request,) = model.requests
    assert (request.messages, request.tools, request.kwargs) == ((QUESTION,), (tool,), {"temperature": 0})


def test_a_script_that_is_too_short_says_so() -> None:
    """By its length and the last message [C1]."""
    with pytest.raises(ChatModelError, match=r"the script has 1 answers, and the conversation needs one more: .*hello"):
        ask(ScriptedModel(["x"]), ChatMessage(MessageRole.ASSISTANT, "x"), QUESTION)


@pytest.mark.parametrize("answers", [[], "text"])
def test_what_is_no_script_is_refused(answers: Any) -> None:
    """A single text would be taken letter by letter [C1]."""
    with pytest.raises(DefinitionError, match="the script is"):
        ScriptedModel(answers)
