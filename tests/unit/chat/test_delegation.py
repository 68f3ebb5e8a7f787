from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    ActionError,
    Agent,
    BaseDeferredSubagentSetup,
    ContextMisuseError,
    DefinitionError,
    EncodingError,
    JavaSubagent,
    ResourceDescriptor,
    ResourceType,
    StoreUnavailableError,
    SubagentRequest,
    SubagentResult,
)
from flink_agents_subagent._plan import compile_agent, dump_plan, load_plan
from flink_agents_subagent.chat import BaseChatModelSetup, ChatMessage, ToolCall
from flink_agents_subagent.chat.delegation import DELEGATION_MARK
from flink_agents_subagent.testing import LocalRunner, ManualClock, ScriptedModel
from tests.unit.chat.models import agent_with, call, outputs_of, said

ANYTHING = {"type": "object", "properties": {"task": {"type": "string"}}}


class Task(BaseModel):
    task: str
    seconds: float = 0


class Answer(BaseModel):
    score: int


class Ratio(BaseModel):
    ratio: float


class Helper(BaseDeferredSubagentSetup):
    """Answers with what its prompt says, after some time, and keeps its requests."""

    input_type = Task
    description = "Helps with a task."

    def __init__(self, answer: Any = "done", **described: Any) -> None:
        super().__init__(**described)
        self.answer = answer
        self.requests: list[SubagentRequest] = []

    async def call(self, request: SubagentRequest) -> Any:
        """Wait, then answer or raise."""
        self.requests.append(request)
        await asyncio.sleep(request.prompt.get("seconds", 0))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Broken(Helper):
    """Cannot be submitted to."""

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        """Raise."""
        raise self.answer


class Waiting(Helper):
    """Fails where its result is awaited."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def submit(self, ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a handle that raises."""
        return _Raising(super().submit(ctx, *args, **kwargs), self.error)


class _Raising:
    def __init__(self, future: Any, error: BaseException) -> None:
        self._future = future
        self._error = error

    def __await__(self) -> Any:
        yield from self._future.__await__()
        raise self._error

    def cancel(self) -> bool:
        """Cancel."""
        return bool(self._future.cancel())


def last(messages: Sequence[ChatMessage]) -> str:
    """Answer with what the callables said."""
    return " | ".join(said(messages))


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def opened(agent: Agent) -> BaseChatModelSetup:
    """Return the agent's model, opened."""
    setup: BaseChatModelSetup = compile_agent(agent).resources["model", ResourceType.CHAT_MODEL]
    setup.open()
    return setup


def offered(agent: Agent, **options: Any) -> list[Any]:
    """Return what the model is offered."""
    model = agent.resources["connection", ResourceType.CHAT_MODEL_CONNECTION]
    outputs_of(agent, **options)
    return list(model.requests[0].tools)


# What is offered


def test_subagents_are_offered_after_the_tools() -> None:
    """Each as exactly one callable under its prefixed name, with description and schema [T1]."""
    agent = agent_with(["x"], tools={"zoo": add}, subagents={"beta": Helper(), "alpha": Helper(input_schema=ANYTHING)})

    told = offered(agent)

    assert [it.name for it in told] == ["zoo", "subagent_beta", "subagent_alpha"]
    assert told[1].input_schema == Task.model_json_schema()
    assert told[2].input_schema == ANYTHING


def test_every_description_says_that_it_delegates() -> None:
    """Also the generic one; no message is added to the conversation [T3]."""
    bare = Helper()
    bare.description = None
    model = ScriptedModel(["x"])

    told = offered(agent_with(model, subagents={"helper": Helper(), "bare": bare}))

    assert [it.description for it in told] == [
        f"Helps with a task. {DELEGATION_MARK}",
        f"The sub-agent bare. {DELEGATION_MARK}",
    ]
    assert [message.content for message in model.requests[0].messages] == ["hello"]


@pytest.mark.logs_warning
@pytest.mark.parametrize("described", [{}, {"input_type": str}, {"input_type": list[Task]}, {"input_type": int | Task}])
def test_a_subagent_without_an_object_schema_is_left_out(
    described: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """One warning names it; the others are offered, the job goes on; a call all the same is answered [T2, T10]."""

    class Plain(BaseDeferredSubagentSetup):
        def call(self, request: SubagentRequest) -> Any:
            """Answer."""
            return 1

    calls = [call("subagent_plain", 1), call("subagent_helper", 2, task="t")]
    agent = agent_with([calls, last], subagents={"plain": Plain(**described), "helper": Helper()})

    assert outputs_of(agent) == ["Error: sub-agent 'plain' cannot be called by a model: it has no input schema | done"]
    (record,) = caplog.records
    assert "chat model 'model' is not offered the sub-agent 'plain'" in record.getMessage()


def test_reopening_offers_the_same_once() -> None:
    """Callables are rebuilt, nothing is doubled [T11]."""
    setup = opened(agent_with(["x"], tools={"add": add}, subagents={"helper": Helper()}))
    before = setup.delegations.callables, setup.tool_names

    setup.open()

    assert (setup.delegations.callables, setup.tool_names) == before
    assert len(setup.delegations.callables) == 1


def test_a_schema_of_a_type_travels_in_the_plan_and_the_type_does_not() -> None:
    """The plan's JSON says what a model is offered; classes are in the part by value alone; an explicit schema wins [T4]."""
    agent = agent_with(
        ["x"],
        subagents={
            "typed": ResourceDescriptor(clazz=Helper, input_type=Task, result_type=Answer),
            "explicit": ResourceDescriptor(clazz=Helper, input_type=Task, input_schema=ANYTHING),
            "instance": Helper(),
        },
    )

    plan = dump_plan(agent)

    text = plan.split(b'"blob":')[0] + plan.split(b'"blob":')[1].split(b'"', 2)[2]
    assert b"Answer" not in text and b"test_delegation:Task" not in text and b"input_type" not in text
    assert text.count(b'"input_schema":{') == 3
    resources = load_plan(plan).resources
    schemas = {name: resources[name, ResourceType.AGENT].offered_schema() for name in ("typed", "explicit", "instance")}
    assert schemas == {"typed": Task.model_json_schema(), "explicit": ANYTHING, "instance": Task.model_json_schema()}


def test_what_the_plan_says_is_offered() -> None:
    """Even if the class has become another one where the job runs [T4]."""
    helper = Helper()

    helper.take_offered_schema({"type": "object", "title": "as submitted"})

    assert helper.offered_schema() == {"type": "object", "title": "as submitted"}


@pytest.mark.parametrize("schema", ["", "  ", {}, "no json", {"a": object()}])
def test_a_blank_schema_is_refused(schema: Any) -> None:
    """Where the sub-agent is made, and where its plan is compiled [T13]."""
    with pytest.raises(DefinitionError, match="input schema of"):
        Helper(input_schema=schema)
    with pytest.raises(DefinitionError, match="input schema of sub-agent 'helper'"):
        dump_plan(agent_with(["x"], subagents={"helper": ResourceDescriptor(clazz=Helper, input_schema=schema)}))


class Tree(BaseModel):
    children: list[Tree] = []


class Forest(BaseModel):
    trees: dict[str, Tree]


class Foreign:
    """No type that a schema could be made of."""


@pytest.mark.parametrize(
    ("input_type", "message"),
    [
        (
            Foreign,
            "the input type Foreign of .* cannot be rendered as a JSON schema: .*; give an explicit input_schema",
        ),
        (Tree, "the input type Tree of .* refers to itself, .*; give an explicit input_schema"),
        (Forest, "the input type Forest of .* refers to itself"),
        (list[Tree], "refers to itself"),
    ],
)
def test_an_input_type_without_a_usable_schema_is_refused(input_type: Any, message: str) -> None:
    """With the remedy, where the sub-agent is made and where its plan is compiled; an explicit schema helps [T13]."""
    with pytest.raises(DefinitionError, match=message):
        Helper(input_type=input_type)
    with pytest.raises(DefinitionError, match=message):
        dump_plan(agent_with(["x"], subagents={"helper": ResourceDescriptor(clazz=Helper, input_type=input_type)}))

    assert Helper(input_type=input_type, input_schema=ANYTHING).offered_schema() == ANYTHING


def test_a_name_that_is_repeated_is_refused() -> None:
    """Opening fails and names it [T13]."""
    agent = agent_with(["x"], subagents={"helper": Helper()})
    agent.add_resource(
        "twice", ResourceType.CHAT_MODEL, BaseChatModelSetup("connection", "m", subagents=["helper", "helper"])
    )

    with pytest.raises(DefinitionError, match="chat model 'twice' offers 'subagent_helper' more than once"):
        outputs_of(agent)


def test_an_unknown_subagent_is_refused() -> None:
    """Opening fails and names those that there are [T13]."""
    agent = agent_with(["x"], subagents={"helper": Helper()})
    agent.add_resource("typo", ResourceType.CHAT_MODEL, BaseChatModelSetup("connection", "m", subagents=["helpr"]))

    with pytest.raises(DefinitionError, match=r"there is no resource 'helpr' of type agent; there are \['helper'\]"):
        outputs_of(agent)


def test_what_providers_could_not_call_is_refused() -> None:
    """The prefixed name has to fit them, too [T13]."""
    with pytest.raises(DefinitionError, match=r"sub-agent 'my helper', .*'subagent_my helper'"):
        outputs_of(agent_with(["x"], subagents={"my helper": Helper()}))


def test_a_java_subagent_is_not_offered() -> None:
    """Opening fails and says that a cross-language callable is not offered to a model [T13]."""
    setup = BaseChatModelSetup("connection", "m", subagents=["pricer"])
    setup.bind_name("model")
    resources = {"connection": ScriptedModel(["x"]), "pricer": JavaSubagent("com.acme.Pricer")}
    setup.bind_resources(lambda name, kind: resources[name])

    with pytest.raises(DefinitionError, match="a cross-language callable is not offered to a model"):
        setup.open()


# What is called


def test_a_tool_and_a_subagent_may_share_a_name() -> None:
    """The prefix tells them apart; it is cut once [T5]."""
    helper, twin = Helper("from the sub-agent"), Helper("from the twin")
    calls = [
        call("add", 1, a=1, b=2),
        call("subagent_add", 2, task="t"),
        call("subagent_subagent_add", 3, task="t"),
    ]
    agent = agent_with([calls, last], tools={"add": add}, subagents={"add": helper, "subagent_add": twin})

    assert outputs_of(agent) == ["3 | from the sub-agent | from the twin"]


def test_the_models_arguments_are_handed_over_unchanged() -> None:
    """Also those that the schema does not know, and nested ones; nothing is injected [T7]."""
    helper = Helper()
    arguments = {"task": "t", "more": [1, {"x": None}], "tenant": "evil", "é": 1.5}

    outputs_of(agent_with([ToolCall("1", "subagent_helper", arguments), last], subagents={"helper": helper}))

    assert [request.prompt for request in helper.requests] == [arguments]


@pytest.mark.logs_warning
@pytest.mark.parametrize(
    ("helper", "reason"),
    [
        (Helper(ValueError("no luck")), "ValueError: no luck"),
        (Helper(SubagentResult.error("quota", "limit")), "quota"),
        (Helper(Ratio(ratio=float("nan"))), "result.ratio is NaN, which JSON cannot express"),
        (Helper({"a": [{1: 2}]}), "result.a[0] has a key that is no text: 1"),
        (
            Helper({"score": "many"}, result_type=Answer),
            "the sub-agent's result is no Answer: result.score: Input should",
        ),
        (Broken(KeyError("x")), "KeyError: 'x'"),
        (Broken(ContextMisuseError("not here")), "ContextMisuseError: not here"),
        (Waiting(OSError("gone")), "OSError: gone"),
        (Helper(asyncio.CancelledError()), "asyncio.exceptions.CancelledError"),
        (Helper(timeout=1), "sub-agent 'helper' did not answer within 1000 ms"),
    ],
    ids=lambda it: type(it).__name__,
)
def test_a_failed_delegation_reaches_the_model_with_its_reason(helper: Helper, reason: str) -> None:
    """Exception from submit or await, failed and inexpressible results, a misfit of the type; the job goes on [T9, T10]."""
    calls = call("subagent_helper", task="t", seconds=5)

    (output,) = outputs_of(agent_with([calls, last], subagents={"helper": helper}))

    assert output.startswith(f"Error: {reason}")


def test_a_name_that_is_none_is_answered() -> None:
    """It names those that are offered; only the model's own sub-agents are found [T10]."""
    model = ScriptedModel([[call("subagent_nobody", 1), call("subagent_hidden", 2)], last])
    agent = agent_with(model, subagents={"helper": Helper()}).add_resource("hidden", ResourceType.AGENT, Helper())

    assert outputs_of(agent) == [
        " | ".join(
            f"Error: there is no sub-agent '{name}'; offered are: 'subagent_helper'" for name in ("nobody", "hidden")
        )
    ]


def test_arguments_that_are_no_json_are_answered() -> None:
    """Nothing is submitted [T10]."""
    helper = Helper()
    agent = agent_with([ToolCall("1", "subagent_helper", malformed="{task"), last], subagents={"helper": helper})

    assert outputs_of(agent) == ["Error: the arguments are no JSON object: {task"]
    assert helper.requests == []


@pytest.mark.parametrize("error", [StoreUnavailableError("gone"), EncodingError("what is this")])
@pytest.mark.parametrize("kind", [Broken, Waiting])
def test_engine_errors_are_no_answer(kind: type[Helper], error: Exception) -> None:
    """They fail the job, wherever they come from [T10]."""
    agent = agent_with([call("subagent_helper", task="t"), last], subagents={"helper": kind(error)})

    with pytest.raises(ActionError) as caught:
        outputs_of(agent)
    assert type(caught.value.__cause__) is type(error)


@pytest.mark.parametrize("kind", [Broken, Waiting])
def test_cancellation_is_no_answer(kind: type[Helper]) -> None:
    """It is not absorbed either [T10]."""
    agent = agent_with([call("subagent_helper", task="t"), last], subagents={"helper": kind(asyncio.CancelledError())})

    with pytest.raises(ActionError) as caught:
        outputs_of(agent)
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


def test_an_encoding_error_in_a_result_fails_the_job() -> None:
    """A sub-agent whose result cannot be recorded is no failed delegation [T10, E3.5]."""
    agent = agent_with([call("subagent_helper", task="t"), last], subagents={"helper": Helper(object())})

    with pytest.raises(EncodingError, match="a value of type builtins:object"):
        outputs_of(agent)


def test_delegations_run_with_each_other_and_with_the_tools() -> None:
    """Answers in the order of the calls; only the sub-agents' own records exist [T15]."""

    async def slow(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return "tool"

    clock = ManualClock()
    begun = clock.now_ms
    calls = [
        call("subagent_helper", 1, task="a", seconds=5),
        call("slow", 2, seconds=5),
        call("subagent_other", 3, task="b", seconds=4),
    ]
    subagents = {"helper": Helper("first"), "other": Helper("third")}

    result = LocalRunner(agent_with([calls, last], tools={"slow": slow}, subagents=subagents), clock=clock).run(
        [("ada", "go")]
    )

    assert result.values == ["first | tool | third"]
    assert clock.now_ms - begun == 5_000
    assert sorted(made.name for made in result.calls) == ["chat:model", "chat:model", "helper", "other", "tool:slow"]


def test_a_fatal_error_cancels_the_rest() -> None:
    """What runs is stopped when the failure is final, tools and sub-agents [T15, I7]."""

    async def slow(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return "late"

    calls = [
        call("subagent_helper", 1, task="a", seconds=50),
        call("slow", 2, seconds=50),
        call("subagent_fatal", 3, task="b", seconds=1),
    ]
    subagents = {"helper": Helper(), "fatal": Waiting(StoreUnavailableError("gone"))}
    agent = agent_with([calls, last], tools={"slow": slow}, subagents=subagents)

    result = LocalRunner(agent, options={"on-action-error": "dead-letter"}).run([("ada", "go")])

    assert result.values == []
    assert [dead.value["error_type"] for dead in result.dead_letters] == ["StoreUnavailableError"]
    assert {made.name for made in result.calls if made.is_cancelled} == {"helper", "tool:slow"}


def test_at_the_depth_limit_nothing_is_offered() -> None:
    """And a call that comes all the same is answered with the reason [T16]."""
    helper = Helper()
    model = ScriptedModel([[call("subagent_helper", 1, task="t"), call("add", 2, a=1, b=2)], last])
    agent = agent_with(model, tools={"add": add}, subagents={"helper": helper})

    told = offered(agent, subagent__max_depth=0)

    assert [it.name for it in told] == ["add"]
    assert said(model.requests[1].messages) == [
        "Error: sub-agent 'helper' is not called: sub-agents are nested as deep as subagent.max-depth allows",
        "3",
    ]
    assert helper.requests == []
