"""What is special about Ollama's chat API, and its SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent.chat import ChatMessage, ChatModelError, MessageRole, ToolCall
from flink_agents_subagent.testing.http.loopback import Reply
from tests.unit.integrations.canned import canned
from tests.unit.integrations.chatting import OLLAMA, answers, ask, call, ollama_reply, said, tool, user

exchange = OLLAMA.exchange


def function(name: str, arguments: Any) -> dict[str, Any]:
    """Return a call as the server sends it."""
    return {"function": {"name": name, "arguments": arguments}}


def test_calls_are_numbered_by_position(tmp_path: Path) -> None:
    """There are no ids; the numbers are unique in the conversation, and the same each time; any name is passed on [C1, C2]."""
    conversation = [user(), said("", call("call_0", "weather")), answers("call_0", "rain")]
    reply = ollama_reply("", tool_calls=[function("weather", {"city": "Ulm"}), function("no such tool", {})])

    answer, _ = exchange(tmp_path, reply, conversation)

    assert answer.tool_calls == (call("call_1", "weather", city="Ulm"), call("call_2", "no such tool"))
    assert answer.extra_args["finish_reason"] == "tool_calls"


def test_results_name_the_tool(tmp_path: Path) -> None:
    """In place of the id, which the API does not know; thinking goes back with its message [C2]."""
    conversation = [
        ChatMessage(MessageRole.SYSTEM, "Be short."),
        user("weather?"),
        said("", call("call_0", "weather", city="Ulm"), ToolCall("call_1", "time", malformed="{"), thinking="Hm."),
        answers("call_1", "noon"),
        answers("call_0", "rain"),
    ]

    _, request = exchange(tmp_path, ollama_reply("hi"), conversation)

    assert request["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "thinking": "Hm.",
            "tool_calls": [function("weather", {"city": "Ulm"}), function("time", {})],
        },
        {"role": "tool", "content": "noon", "tool_name": "time"},
        {"role": "tool", "content": "rain", "tool_name": "weather"},
    ]


def test_a_result_must_say_which_call_it_answers(tmp_path: Path) -> None:
    """A tool message whose call is not in the conversation cannot be sent [C2]."""
    with pytest.raises(ChatModelError, match="answers the call 'x', which no message of the conversation makes"):
        exchange(tmp_path, ollama_reply("hi"), [answers("x", "rain")])


def test_thinking_is_kept(tmp_path: Path) -> None:
    """It is no part of the answer's text [C2]."""
    answer, _ = exchange(tmp_path, ollama_reply("Rain.", thinking="Hm."), think=True)

    assert (answer.content, answer.extra_args["thinking"]) == ("Rain.", "Hm.")


def test_arguments_that_are_no_object_are_told(tmp_path: Path) -> None:
    """The server parses them itself, so that the SDK takes anything else for another protocol; the message says where it is [C2]."""
    with pytest.raises(ChatModelError, match=r"message\.tool_calls\.0\.function\.arguments: .*got '\{\"city\": '"):
        exchange(tmp_path, ollama_reply("", tool_calls=[function("weather", '{"city": ')]))


def test_a_schema_that_the_sdk_keeps_is_sent_as_it_is(tmp_path: Path) -> None:
    """The description says nothing twice [C1, T4]."""
    properties = {
        "city": {"type": "string", "description": "A town.", "enum": ["Ulm"]},
        "days": {"type": ["integer", "null"]},
    }

    _, request = exchange(tmp_path, ollama_reply("hi"), [user()], [tool(properties=properties, required=["city"])])

    assert request["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": {"type": "object", "required": ["city"], "properties": properties},
            },
        }
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"city": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
        {"properties": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}}},
        {"properties": {"place": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": {"type": "object"}}},
        {"properties": {"any": True}},
        {"anyOf": [{"required": ["city"]}]},
    ],
)
def test_a_schema_that_the_sdk_would_cut_is_in_the_description(schema: dict[str, Any], tmp_path: Path) -> None:
    """The model is told the whole of it [C1, T4]."""
    offered = tool(**schema)

    _, request = exchange(tmp_path, ollama_reply("hi"), [user()], [offered])

    _, _, told = request["tools"][0]["function"]["description"].partition("The arguments fit this JSON schema: ")
    assert json.loads(told) == offered.input_schema


def test_an_output_schema_is_a_format_and_told(tmp_path: Path) -> None:
    """The server does not show the format to the model; a format among the parameters wins [C1, A2]."""
    schema = {"type": "object", "properties": {"sky": {"type": "string"}}}

    _, request = exchange(tmp_path / "a", ollama_reply("{}"), output_schema=schema)
    _, other = exchange(tmp_path / "b", ollama_reply("{}"), output_schema=schema, format="json")

    told, asked = request["messages"]
    assert (request["format"], other["format"]) == (schema, "json")
    assert told["role"] == "system" and '{"type":"object","properties":{"sky":{"type":"string"}}}' in told["content"]
    assert asked == {"role": "user", "content": "hi"}


def test_an_output_schema_does_not_keep_the_model_from_its_tools(tmp_path: Path) -> None:
    """While tools are offered the schema is told only, because a format would rule out every call [C2, A2]."""
    reply = ollama_reply("", tool_calls=[function("weather", {})])

    answer, request = exchange(tmp_path, reply, [user()], [tool()], output_schema={"type": "object"})

    assert "format" not in request and '{"type":"object"}' in request["messages"][0]["content"]
    assert answer.tool_calls


def test_parameters_are_of_the_request_or_options_of_the_model(tmp_path: Path) -> None:
    """Options may be given by themselves, or among the others [C1]."""
    _, request = exchange(
        tmp_path, ollama_reply("hi"), options={"num_ctx": 4096, "seed": 1}, seed=2, keep_alive="5m", think=False
    )

    assert request["options"] == {"num_ctx": 4096, "seed": 2}
    assert (request["keep_alive"], request["think"], request["stream"]) == ("5m", False, False)


def test_a_request_that_the_sdk_refuses_is_told_as_such(tmp_path: Path) -> None:
    """A mistake of the parameters is not blamed on the server [C1]."""
    with pytest.raises(ChatModelError, match=r"cannot be asked like this: top_logprobs: .*got 'many'"):
        exchange(tmp_path, ollama_reply("hi"), top_logprobs="many")


def test_what_is_no_whole_answer_is_told(tmp_path: Path) -> None:
    """A part of an answer is not taken for the answer [C1, C2]."""
    with pytest.raises(ChatModelError, match="was cut off after 3 tokens; raise num_predict"):
        exchange(tmp_path, ollama_reply("Once upon", "length"))


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    """As the server says it [C1]."""
    with (
        canned(tmp_path, Reply(404, {"error": "model 'model-1' not found"})) as server,
        pytest.raises(ChatModelError, match="answered 404: model 'model-1' not found; check the name of the model"),
    ):
        ask(OLLAMA.connect(server, api_key_env=None))
