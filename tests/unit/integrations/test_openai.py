"""What is special about OpenAI's chat completions, and about servers that only resemble it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent.chat import ChatMessage, ChatModelError, MessageRole, ToolCall
from flink_agents_subagent.testing.http.loopback import Reply
from tests.unit.integrations.canned import canned
from tests.unit.integrations.chatting import OPENAI, answers, ask, call, openai_reply, said, tool, user

exchange = OPENAI.exchange


def calling(*calls: dict[str, Any], text: str | None = None, finish_reason: str = "tool_calls") -> dict[str, Any]:
    """Return an answer that calls functions."""
    return openai_reply(text, finish_reason, tool_calls=list(calls))


def function(name: str, arguments: Any, call_id: str | None = "call_a") -> dict[str, Any]:
    """Return a call as the server sends it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_tools_are_offered_verbatim(tmp_path: Path) -> None:
    """Name, description and the whole schema; without tools the request has no word of them [C1, T4]."""
    schema = {"anyOf": [{"required": ["city"]}], "$defs": {"A": {"type": "object"}}}

    _, request = exchange(tmp_path / "a", openai_reply("hi"), [user()], [tool("weather", **schema)])
    _, without = exchange(tmp_path / "b", openai_reply("hi"), [user()])

    properties = {"city": {"type": "string"}}
    assert request["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": {"type": "object", "properties": properties, **schema},
            },
        }
    ]
    assert without == {"model": "model-1", "messages": [{"role": "user", "content": "hi"}]}


def test_several_calls_come_in_their_order(tmp_path: Path) -> None:
    """With text beside them, with arguments as text, and with a name that nobody offered, which is passed on [C1, C2]."""
    reply = calling(
        function("weather", '{"city": "Ulm", "days": [1, null]}'),
        function("no such tool", "{}", "call_b"),
        text="Let me see.",
    )

    answer, _ = exchange(tmp_path, reply)

    assert answer.content == "Let me see."
    assert answer.tool_calls == (
        call("call_a", "weather", city="Ulm", days=[1, None]),
        call("call_b", "no such tool"),
    )
    assert answer.extra_args["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("given", "arguments", "malformed"),
    [
        ("", {}, None),
        (None, {}, None),
        ({"city": "Ulm"}, {"city": "Ulm"}, None),
        ('{"city": ', {}, '{"city": '),
        ("Ulm", {}, "Ulm"),
        ('["Ulm"]', {}, '["Ulm"]'),
        (["Ulm"], {}, '["Ulm"]'),
        ('{"a": NaN}', {}, '{"a": NaN}'),
    ],
)
def test_malformed_arguments_are_kept_as_text(
    given: Any, arguments: dict[str, Any], malformed: str | None, tmp_path: Path
) -> None:
    """What is no JSON object is for the conversation to answer, not a failure; nothing is no arguments [C2]."""
    answer, _ = exchange(tmp_path, calling(function("weather", given)))

    assert answer.tool_calls == (ToolCall("call_a", "weather", arguments, malformed),)


def test_calls_without_ids_get_their_position(tmp_path: Path) -> None:
    """Ids that other servers leave out are unique in the conversation and the same each time [C2]."""
    conversation = [user(), said("", call("call_0", "weather")), answers("call_0", "rain"), user("and now?")]
    reply = calling(function("weather", "{}", None), function("weather", "{}", ""))

    answer, _ = exchange(tmp_path, reply, conversation)

    assert [each.id for each in answer.tool_calls] == ["call_1", "call_2"]


def test_a_conversation_goes_back_as_the_api_wants_it(tmp_path: Path) -> None:
    """System prompt, calls with arguments as text, malformed ones as none, and one message per result [C1, C2]."""
    conversation = [
        ChatMessage(MessageRole.SYSTEM, "Be short."),
        user("weather?"),
        said("", call("call_a", "weather", city="Köln"), ToolCall("call_b", "weather", malformed="{")),
        answers("call_a", '{"sky":"grey"}'),
        answers("call_b", "The arguments are no JSON object."),
        said("Grey."),
        user("thanks"),
    ]

    _, request = exchange(tmp_path, openai_reply("hi"), conversation)

    assert request["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_a",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Köln"}'},
                },
                {"id": "call_b", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": '{"sky":"grey"}'},
        {"role": "tool", "tool_call_id": "call_b", "content": "The arguments are no JSON object."},
        {"role": "assistant", "content": "Grey."},
        {"role": "user", "content": "thanks"},
    ]


def test_an_output_schema_is_a_response_format(tmp_path: Path) -> None:
    """Not strict, because any schema may be asked for; a format among the parameters wins [C1, A2]."""
    schema = {"type": "object", "properties": {"sky": {"type": "string"}}}

    answer, request = exchange(tmp_path / "a", openai_reply('{"sky": "grey"}'), output_schema=schema)
    _, other = exchange(
        tmp_path / "b", openai_reply("{}"), output_schema=schema, response_format={"type": "json_object"}
    )

    assert answer.content == '{"sky": "grey"}'
    assert request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema},
    }
    assert other["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (openai_reply("Once upon", "length"), "was cut off after 3 tokens; raise max_completion_tokens"),
        (openai_reply(None, "content_filter"), "refused to answer, or a filter stopped it$"),
        (openai_reply(None, refusal="I cannot help."), "a filter stopped it: I cannot help."),
    ],
    ids=["length", "filter", "refusal"],
)
def test_what_is_no_whole_answer_is_told(reply: dict[str, Any], text: str, tmp_path: Path) -> None:
    """A part of an answer, or none, is not taken for the answer [C1, C2]."""
    with pytest.raises(ChatModelError, match=text):
        exchange(tmp_path, reply)


def test_what_servers_leave_out_is_unknown(tmp_path: Path) -> None:
    """Usage, reason and model may be missing; text may come in parts [C1]."""
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

    answer, _ = exchange(tmp_path, {"choices": [{"message": {"content": parts}}]})

    assert answer.content == "ab"
    assert answer.extra_args == {
        "usage": {"input_tokens": None, "output_tokens": None},
        "finish_reason": None,
        "model": None,
    }


def test_a_server_without_a_key_is_sent_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that the SDK would find by itself; a server that wants one says so with the remedy [C1]."""
    monkeypatch.setenv("OPENAI_API_KEY", "never-send-me")
    with canned(tmp_path / "a", Reply(200, openai_reply("hi"))) as server:
        ask(OPENAI.connect(server, api_key_env=None))
    with (
        canned(tmp_path / "b", Reply(401, {"error": "who are you?"})) as other,
        pytest.raises(
            ChatModelError, match=r"answered 401: who are you\?; the server wants a key: name the environment"
        ),
    ):
        ask(OPENAI.connect(other, api_key_env=None))

    assert "authorization" not in {name.lower() for name in server.asked[0].headers}


def test_a_result_must_say_which_call_it_answers(tmp_path: Path) -> None:
    """A tool message without an id cannot be sent [C2]."""
    with pytest.raises(ChatModelError, match="give its tool_call_id"):
        exchange(tmp_path, openai_reply("hi"), [ChatMessage(MessageRole.TOOL, "rain")])
