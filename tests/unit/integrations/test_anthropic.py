"""What is special about Anthropic's messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent.chat import ChatMessage, ChatModelError, MessageRole, ToolCall
from tests.unit.integrations.chatting import ANTHROPIC, answers, anthropic_reply, call, said, tool, user

_TEXT = {"type": "text", "text": "Let me see."}


exchange = ANTHROPIC.exchange


def use(call_id: str, name: str, given: Any) -> dict[str, Any]:
    """Return a call as the API sends it."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def test_system_prompts_and_tools_have_places_of_their_own(tmp_path: Path) -> None:
    """Several prompts are joined; schemas go verbatim; the key is a header of its own [C1, T4]."""
    conversation = [
        ChatMessage(MessageRole.SYSTEM, "Be short."),
        user(),
        ChatMessage(MessageRole.SYSTEM, "Be kind."),
    ]

    _, request = exchange(tmp_path, anthropic_reply(_TEXT), conversation, [tool("weather", required=["city"])])

    assert request == {
        "model": "model-1",
        "max_tokens": 4096,
        "system": "Be short.\n\nBe kind.",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [
            {
                "name": "weather",
                "description": "Tells the weather.",
                "input_schema": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                },
            }
        ],
    }


def test_several_calls_come_in_their_order(tmp_path: Path) -> None:
    """Text of several blocks is joined; a name that nobody offered is passed on; input that is no object is malformed [C1, C2]."""
    reply = anthropic_reply(
        _TEXT,
        {"type": "text", "text": " Now."},
        use("a", "weather", {"city": "Ulm"}),
        use("b", "no such tool", {}),
        use("c", "weather", ["Ulm"]),
        stop_reason="tool_use",
    )

    answer, _ = exchange(tmp_path, reply)

    assert answer.content == "Let me see. Now."
    assert answer.tool_calls == (
        call("a", "weather", city="Ulm"),
        call("b", "no such tool"),
        ToolCall("c", "weather", malformed='["Ulm"]'),
    )
    assert answer.extra_args["finish_reason"] == "tool_calls" and "blocks" not in answer.extra_args


def test_all_results_of_a_message_stand_in_one_turn(tmp_path: Path) -> None:
    """The API refuses a turn that leaves a call open, and blocks without text [C2]."""
    conversation = [
        user("weather?"),
        said("Let me see.", call("a", "weather", city="Ulm"), ToolCall("b", "weather", malformed="{")),
        answers("a", "rain"),
        answers("b", "no object"),
        said("", call("c", "weather")),
        answers("c", "sun"),
        said(""),
        user("so?"),
    ]

    _, request = exchange(tmp_path, anthropic_reply(_TEXT), conversation)

    assert request["messages"] == [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": [_TEXT, use("a", "weather", {"city": "Ulm"}), use("b", "weather", {})],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "b", "content": "no object"},
            ],
        },
        {"role": "assistant", "content": [use("c", "weather", {})]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "sun"}]},
        {"role": "user", "content": "so?"},
    ]


def test_thinking_is_carried_back_as_it_came(tmp_path: Path) -> None:
    """Signed blocks and their order are the API's business; they survive the journal as JSON values [C2]."""
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
        {"type": "redacted_thinking", "data": "xyz"},
        _TEXT,
        use("a", "weather", {"city": "Ulm"}),
    ]

    answer, _ = exchange(tmp_path / "a", anthropic_reply(*blocks, stop_reason="tool_use"))
    _, request = exchange(tmp_path / "b", anthropic_reply(_TEXT), [user(), answer, answers("a", "rain")])

    assert answer.content == "Let me see." and answer.extra_args["blocks"] == blocks
    assert request["messages"][1] == {"role": "assistant", "content": blocks}


def test_an_output_schema_is_an_output_format(tmp_path: Path) -> None:
    """As the SDK puts it: constraints that the API does not know go into descriptions; other settings of the output stay [C1, A2]."""
    schema = {
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 1}},
        "required": ["count"],
    }

    _, request = exchange(
        tmp_path, anthropic_reply(_TEXT), output_schema=schema, output_config={"effort": "low"}, max_tokens=10
    )

    assert request["output_config"] == {
        "effort": "low",
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"count": {"type": "integer", "description": "{minimum: 1}"}},
                "required": ["count"],
                "additionalProperties": False,
            },
        },
    }
    assert request["max_tokens"] == 10


@pytest.mark.parametrize("part", [{}, {"type": ["string", "null"]}, True], ids=["untyped", "several", "no object"])
def test_an_output_schema_that_cannot_be_put_is_refused(part: Any, tmp_path: Path) -> None:
    """The message says what to write instead [C1, A2]."""
    with pytest.raises(
        ChatModelError, match=r"cannot be given this output_schema: .*; say of each part which one type"
    ):
        ask_with(tmp_path, {"type": "object", "properties": {"a": part}})


def ask_with(folder: Path, schema: dict[str, Any]) -> None:
    """Ask for an answer of a schema."""
    exchange(folder, anthropic_reply(_TEXT), output_schema=schema)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (anthropic_reply(_TEXT, stop_reason="max_tokens"), "was cut off after 3 tokens; raise max_tokens"),
        (anthropic_reply(_TEXT, stop_reason="model_context_window_exceeded"), "was cut off after 3 tokens"),
        (anthropic_reply(stop_reason="refusal"), "refused to answer, or a filter stopped it$"),
        (
            anthropic_reply(
                stop_reason="refusal", stop_details={"type": "refusal", "category": "bio", "explanation": None}
            ),
            "a filter stopped it: bio",
        ),
    ],
    ids=["length", "context", "refusal", "why"],
)
def test_what_is_no_whole_answer_is_told(reply: dict[str, Any], text: str, tmp_path: Path) -> None:
    """A part of an answer, or none, is not taken for the answer [C1, C2]."""
    with pytest.raises(ChatModelError, match=text):
        exchange(tmp_path, reply)


def test_a_call_without_a_name_is_no_answer(tmp_path: Path) -> None:
    """The message says which block it is [C1]."""
    with pytest.raises(ChatModelError, match=r"content\.1: .*a tool_use block needs an id and a name"):
        exchange(tmp_path, anthropic_reply(_TEXT, {"type": "tool_use", "id": "a", "input": {}}))


def test_a_result_must_say_which_call_it_answers(tmp_path: Path) -> None:
    """A tool message without an id cannot be sent [C2]."""
    with pytest.raises(ChatModelError, match="give its tool_call_id"):
        exchange(tmp_path, anthropic_reply(_TEXT), [ChatMessage(MessageRole.TOOL, "rain")])
