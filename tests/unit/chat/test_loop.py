from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    ActionError,
    Agent,
    ChatModelError,
    DefinitionError,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
)
from flink_agents_subagent.chat import (
    BaseChatModelSetup,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    FromConfig,
    FromMemory,
    Prompt,
    Tool,
    ToolCall,
    ToolRequestEvent,
    ToolResponse,
    ToolResponseEvent,
)
from flink_agents_subagent.testing import LocalRunner, ManualClock, ScriptedModel
from tests.unit.chat.models import agent_with, call, outputs_of, said, user


def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


async def later(seconds: float) -> str:
    """Wait.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return f"after {seconds}"


def broken(a: int) -> int:
    """Fail."""
    raise ValueError(f"no {a}")


def last_tools(messages: Sequence[ChatMessage]) -> str:
    """Answer with what the tools said."""
    return " | ".join(said(messages))


# The loop


def test_a_model_that_calls_nothing_answers_at_once() -> None:
    """The prompt comes first, filled; the parameters reach the provider, with a key of the call [C1, C2]."""
    model = ScriptedModel(["Hi."])
    agent = agent_with(model, prompt=Prompt.from_text("Be {mood}."), temperature=0)

    assert outputs_of(agent, {"messages": [user("hello")], "prompt_arguments": {"mood": "kind"}}) == ["Hi."]
    (request,) = model.requests
    assert [message.content for message in request.messages] == ["Be kind.", "hello"]
    assert request.tools == ()
    assert {**request.kwargs, "call_id": ""} == {"model": "tiny", "temperature": 0, "call_id": ""}
    assert len(request.kwargs["call_id"]) == 36


def test_tools_are_called_and_their_answers_given_back_until_the_model_answers() -> None:
    """Each call is a durable call of its own; `def` and `async def`; answers in the order of the calls [C2]."""
    model = ScriptedModel([[call("later", 1, seconds=5), call("add", 2, a=1)], call("add", 3, a=40, b=2), last_tools])
    result = LocalRunner(agent_with(model, tools={"add": add, "later": later})).run([("ada", "go")])

    assert result.values == ["after 5.0 | 3 | 42"]
    assert [made.name for made in result.calls] == [
        "chat:model", "tool:later", "tool:add", "chat:model", "tool:add", "chat:model",
    ]  # fmt: skip
    assert [message.tool_call_id for message in model.requests[2].messages if message.tool_call_id] == ["1", "2", "3"]
    assert [tool.name for tool in model.requests[2].tools] == ["add", "later"]


def test_what_a_tool_cannot_do_is_answered_with_the_reason() -> None:
    """Unknown names, arguments that do not fit or are no JSON; the model goes on [C2, T6]."""
    calls = [
        call("nobody", 1),
        call("add", 2, a="one"),
        call("add", 3, a=1, c=3),
        ToolCall("4", "add", malformed='{"a": 1'),
        call("add", 5, a=1),
    ]
    model = ScriptedModel([calls, lambda messages: "done"])

    assert outputs_of(agent_with(model, tools={"add": add})) == ["done"]
    answers = said(model.requests[1].messages)
    assert answers[0] == "Error: there is no tool 'nobody'; offered are: 'add'"
    assert answers[1].startswith("Error: the arguments do not fit: a: Input should be a valid integer")
    assert answers[2] == "Error: the arguments do not fit: c: Extra inputs are not permitted"
    assert answers[3] == 'Error: the arguments are no JSON object: {"a": 1'
    assert answers[4] == "3"
    assert [it.extra_args for it in model.requests[1].messages[2:]] == [{"is_error": True}] * 4 + [{}]


@pytest.mark.logs_warning
def test_what_a_tool_raises_or_returns_is_answered() -> None:
    """An exception, a value that is no JSON, a coroutine of a `def`; a model object is rendered [C2]."""

    def strange(kind: str) -> Any:
        """Answer strangely."""
        made = {
            "nan": float("nan"),
            "object": object(),
            "model": Made(a=1),
            "none": None,
            "own": ToolResponse.error("no"),
        }
        return later(1) if kind == "coroutine" else made[kind]

    async def quits(kind: str) -> str:
        """Give up."""
        raise asyncio.CancelledError(kind)

    kinds = ["nan", "object", "model", "none", "own", "coroutine"]
    calls = [call("strange", place, kind=kind) for place, kind in enumerate(kinds)]
    model = ScriptedModel([[*calls, call("quits", 8, kind="x"), call("broken", 9, a=3)], last_tools])

    (output,) = outputs_of(agent_with(model, tools={"strange": strange, "broken": broken, "quits": quits}))

    assert output.split(" | ") == [
        "Error: result is NaN, which JSON cannot express",
        "Error: result is of type object, which JSON cannot express",
        '{"a":1}',
        "null",
        "Error: no",
        "Error: the tool returned a coroutine, which nobody awaits; declare it async def",
        "Error: CancelledError: x",
        "Error: ValueError: no 3",
    ]


class Made(BaseModel):
    a: int


def test_a_tool_that_hangs_is_answered_when_its_time_is_up() -> None:
    """The tool's own time-out wins over the model's, that over the option [C2]."""
    slow = {name: Tool.from_callable(later, timeout=limit) for name, limit in (("own", 1), ("other", None))}
    calls = [call("own", 1, seconds=100), call("other", 2, seconds=100)]

    assert outputs_of(agent_with([calls, last_tools], tools=slow, tool_timeout=2)) == [
        "Error: tool 'own' did not answer within 1000 ms | Error: tool 'other' did not answer within 2000 ms"
    ]
    assert outputs_of(agent_with([calls[1], last_tools], tools=slow), tool_call__timeout="3 s") == [
        "Error: tool 'other' did not answer within 3000 ms"
    ]


@pytest.mark.parametrize(("parallelism", "seconds"), [(1, 8), (2, 4), (8, 2)])
def test_tools_of_one_message_run_concurrently_up_to_the_option(parallelism: int, seconds: int) -> None:
    """So many at a time, in order [C2]."""
    clock = ManualClock()
    agent = agent_with([[call("later", place, seconds=2) for place in range(4)], "done"], tools={"later": later})
    begun = clock.now_ms

    LocalRunner(agent, options={"tool-call.parallelism": parallelism}, clock=clock).run([("ada", "go")])

    assert clock.now_ms - begun == seconds * 1000


def test_a_model_that_never_stops_calling_is_stopped() -> None:
    """After max-tool-rounds rounds the request fails and says so [C3]."""
    model = ScriptedModel([call("add", a=1)] * 4)
    agent = agent_with(model, tools={"add": add})

    result = LocalRunner(agent, options={"max-tool-rounds": 3}).run([("ada", "go")])

    assert result.values == ["the model went on asking for tools after max-tool-rounds = 3 rounds"]
    assert [made.name for made in result.calls].count("tool:add") == 3


def test_as_many_rounds_as_allowed_are_made() -> None:
    """The limit itself is no failure [C3]."""
    model = ScriptedModel([call("add", a=1)] * 3 + ["done"])

    assert outputs_of(agent_with(model, tools={"add": add}), max_tool_rounds=3) == ["done"]


def test_nothing_is_left_of_a_conversation() -> None:
    """Neither after an answer nor after a failure [C2]."""

    def look(event: ChatResponseEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=[event.is_success, ctx.sensory_memory.get("__chat__").get_field_names()]))

    for answers in (["done"], [ChatModelError("no")]):
        agent = agent_with(answers).add_action("look", ChatResponseEvent, look)
        assert outputs_of(agent)[1] == [answers == ["done"], []]


def test_requests_of_one_run_are_told_apart() -> None:
    """By their ids, whatever is in them; an id that is open is refused [C2]."""

    async def both(event: InputEvent, ctx: RunnerContext) -> None:
        for name in ("a.b", "a%2Eb"):
            ctx.send_event(ChatRequestEvent(model="model", messages=[user(name)], request_id=name))

    def tell(event: ChatResponseEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=(event.request_id, event.text)))

    agent = Agent("two").add_action("both", InputEvent, both).add_action("tell", ChatResponseEvent, tell)
    agent.add_resource("connection", ResourceType.CHAT_MODEL_CONNECTION, ScriptedModel([lambda it: it[0].content]))
    agent.add_resource("model", ResourceType.CHAT_MODEL, BaseChatModelSetup("connection", "tiny"))

    assert outputs_of(agent) == [("a.b", "a.b"), ("a%2Eb", "a%2Eb")]

    async def twice(event: InputEvent, ctx: RunnerContext) -> None:
        for _ in range(2):
            ctx.send_event(ChatRequestEvent(model="model", request_id="same"))

    with pytest.raises(ActionError, match="a chat request 'same' is open in this run"):
        outputs_of(agent_with(["x"]).add_action("twice", InputEvent, twice))


def test_an_action_may_have_tools_called_itself() -> None:
    """Its answer goes to the actions that listen for it; the built-in one leaves it alone [C2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(ToolRequestEvent(request_id="mine", model="model", calls=[call("add", a=5)]))

    def tell(event: ToolResponseEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=(event.request_id, [it.result for it in event.responses])))

    agent = Agent("caller").add_action("act", InputEvent, act).add_action("tell", ToolResponseEvent, tell)
    agent.add_resource("add", ResourceType.TOOL, Tool.from_callable(add))
    agent.add_resource("connection", ResourceType.CHAT_MODEL_CONNECTION, ScriptedModel(["never"]))
    agent.add_resource("model", ResourceType.CHAT_MODEL, BaseChatModelSetup("connection", "tiny", tools=["add"]))

    assert outputs_of(agent) == [("mine", [7])]


# Injected arguments


def test_arguments_that_the_model_does_not_give_come_from_config_and_memory() -> None:
    """As they are at the call; what is missing has its default, or is answered with the reason [C1]."""

    def find(
        what: str,
        tenant: Annotated[str, FromConfig("tenant")],
        limit: Annotated[int, FromMemory("limits.find")] = 9,
    ) -> str:
        """Find something."""
        return f"{what} {tenant} {limit}"

    def must(customer: Annotated[int, FromMemory("customer")]) -> int:
        """Look the customer up."""
        return customer

    async def remember(event: InputEvent, ctx: RunnerContext) -> None:
        if event.input == "second":
            ctx.short_term_memory.set("limits.find", 2)

    model = ScriptedModel([[call("find", 1, what="x"), call("must", 2)], last_tools])
    agent = agent_with(model, tools={"find": find, "must": must}, tool_config={"tenant": "acme"})
    agent.add_action("remember", InputEvent, remember)

    assert outputs_of(agent, "first", "second") == [
        "x acme 9 | Error: the tool needs FromMemory(path='customer'), which is not there",
        "x acme 2 | Error: the tool needs FromMemory(path='customer'), which is not there",
    ]
    assert model.requests[0].tools[0].input_schema["properties"].keys() == {"what"}


def test_configuration_that_is_missing_is_found_when_the_model_opens() -> None:
    """Not when the model first calls the tool [C1]."""

    def find(tenant: Annotated[str, FromConfig("tenant")]) -> str:
        """Find."""
        return tenant

    with pytest.raises(DefinitionError, match="tool 'find' takes 'tenant' from the configuration"):
        outputs_of(agent_with(["x"], tools={"find": find}))
