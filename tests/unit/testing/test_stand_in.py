"""Stand-ins for Java sub-agents: the Python side runs as in Flink, a setup in Python answers for the Java class."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    BaseAsyncSubagentSetup,
    BaseDeferredSubagentSetup,
    BridgeError,
    DefinitionError,
    InputEvent,
    JavaSubagent,
    NotExpressibleError,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    RunState,
    RunStatus,
    SubagentRequest,
    SubagentResult,
)
from flink_agents_subagent.testing import LocalRunner, simulate_crashes, with_stand_ins


class Order(BaseModel):
    """A prompt."""

    item: str
    pieces: int


class Quote(BaseModel):
    """A result."""

    item: str
    total: float


class FakePricer(BaseDeferredSubagentSetup):
    """Stands for a DeferredSubagent."""

    async def call(self, request: SubagentRequest) -> Any:
        """Answer by what is asked."""
        match request.prompt["item"]:
            case "missing":
                raise LookupError("no such item")
            case "strange":
                return {"a": [float("nan")]}
            case "dear":
                return SubagentResult.error("too dear", "limit")
        return Quote(item=request.prompt["item"], total=request.prompt["pieces"] * 2)


class Remembering(FakePricer):
    """Stands for a ReconcilingSubagent."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Any] = {}

    async def call(self, request: SubagentRequest) -> Any:
        """Answer, and keep the answer."""
        self.answers[request.call_id] = await super().call(request)
        return self.answers[request.call_id]

    async def reconcile(self, request: SubagentRequest) -> Any:
        """Return what was answered."""
        return self.answers.get(request.call_id)


class FakeCheck(BaseAsyncSubagentSetup):
    """Stands for an AsyncSubagent: a job needs to be asked about twice."""

    def __init__(self, *, is_broken: bool = False) -> None:
        super().__init__()
        self.is_broken = is_broken
        self.probes: dict[str, int] = {}

    def call_submit_request(self, request: SubagentRequest) -> str:
        """Take the job."""
        self.probes[request.call_id] = 0
        return f"job of {request.prompt}"

    def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Go on with each question."""
        if self.is_broken:
            raise ConnectionError("nobody there")
        if request.call_id not in self.probes:
            return RunStatus(RunState.NOT_STARTED)
        self.probes[request.call_id] += 1
        state = RunState.COMPLETED if self.probes[request.call_id] > 1 else RunState.RUNNING
        return RunStatus(state, retry_after=3, run=f"job of {request.prompt}")

    def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Return the result."""
        return {"run": request.run}


class Shop(Agent):
    """Asks for each input."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("shop")
        self.add_resource("pricer", ResourceType.AGENT, JavaSubagent("com.acme.Pricer", args={"a": 1}, **arguments))


async def ask(event: InputEvent, ctx: RunnerContext) -> None:
    """Submit the input and send what comes back."""
    result = await ctx.get_resource("pricer", ResourceType.AGENT).submit(ctx, event.input)
    ctx.send_event(OutputEvent(output=result.result if result.is_success else (result.reason, result.error_message)))


def run(stand_in: Any, *inputs: Any, **arguments: Any) -> list[Any]:
    """Run the shop and return its outputs."""
    agent = with_stand_ins(Shop(**arguments).add_action("ask", InputEvent, ask), {"pricer": stand_in})
    return LocalRunner(agent).run([("ada", value) for value in inputs]).values


@pytest.mark.logs_warning
def test_what_crosses_is_what_crosses_to_java() -> None:
    """Models are rendered both ways; failures, refusals and what JSON cannot express are failed results [B2, B4, B5, T9]."""
    outputs = run(
        FakePricer(),
        Order(item="desk", pieces=3),
        {"item": "missing"},
        {"item": "strange"},
        {"item": "dear"},
    )

    assert outputs == [
        {"item": "desk", "total": 6.0},
        ("error", "LookupError: no such item"),
        ("error", "result.a[0] is NaN, which JSON cannot express"),
        ("limit", "too dear"),
    ]


def test_a_prompt_beyond_json_is_refused_by_submit() -> None:
    """As it would be in Flink [B4, I1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(NotExpressibleError, match=r"^prompt\.when is of type datetime"):
            ctx.get_resource("pricer", ResourceType.AGENT).submit(ctx, {"when": ctx.now()})
        ctx.send_event(OutputEvent(output="refused"))

    agent = with_stand_ins(Shop().add_action("act", InputEvent, act), {"pricer": FakePricer()})

    assert LocalRunner(agent).run([("ada", 1)]).values == ["refused"]


def test_an_asynchronous_stand_in_is_polled() -> None:
    """Submit, two probes with the service's hint, fetch [B2, M3]."""
    stand_in = FakeCheck()

    assert run(stand_in, "ada") == [{"run": "job of ada"}]
    assert list(stand_in.probes.values()) == [2]


@pytest.mark.logs_warning
def test_a_status_that_cannot_be_told_is_a_bridge_error() -> None:
    """It is raised from await, after the retries, and is neither a result nor `not done yet` [B5, M4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.get_resource("pricer", ResourceType.AGENT).submit(ctx, "ada")
        with pytest.raises(BridgeError, match=r"'pricer' failed in status of call .*: ConnectionError: nobody there"):
            await handle
        with pytest.raises(BridgeError):
            handle.done()
        ctx.send_event(OutputEvent(output="raised"))

    agent = Shop(retry=RetryPolicy(max_attempts=2)).add_action("act", InputEvent, act)

    assert LocalRunner(with_stand_ins(agent, {"pricer": FakeCheck(is_broken=True)})).run([("ada", 1)]).values == [
        "raised"
    ]


@pytest.mark.parametrize("make", [FakePricer, Remembering, FakeCheck])
def test_java_subagents_survive_crashes_as_others_do(make: type[Any]) -> None:
    """Wherever the process dies, recorded calls are not made again, and reconciled ones never twice [B2, E3.6, E8.2]."""
    stand_in = make()
    agent = with_stand_ins(Shop().add_action("ask", InputEvent, ask), {"pricer": stand_in})
    prompt: Any = "ada" if make is FakeCheck else {"item": "desk", "pieces": 1}

    report = simulate_crashes(agent, [("ada", prompt), ("bob", prompt)], seeds=5)

    assert report.differences == []
    # A wait is repeated, because probing changes nothing; a call only if nobody can tell what became of it.
    assert (report.repeated_calls == 0) is (make is Remembering)


def test_the_agent_stays_as_it_is() -> None:
    """Only the copy has the stand-ins; one of a descriptor keeps its arguments [B2]."""
    described = ResourceDescriptor(clazz=JavaSubagent, class_name="com.acme.Pricer", description="prices")
    agent = Agent("shop").add_action("ask", InputEvent, ask).add_resource("pricer", ResourceType.AGENT, described)

    copied = with_stand_ins(agent, {"pricer": FakePricer()})

    assert agent.resources["pricer", ResourceType.AGENT] is described
    assert copied.resources["pricer", ResourceType.AGENT].description == "prices"
    assert copied.actions == agent.actions
    with pytest.raises(DefinitionError, match="there is no Java here"):
        LocalRunner(agent).run([("ada", 1)])


def test_stand_ins_are_checked() -> None:
    """Unknown names, and what is no setup of either mode, are refused [B2]."""
    with pytest.raises(DefinitionError, match="no Java sub-agent 'prices'; it has pricer"):
        with_stand_ins(Shop(), {"prices": FakePricer()})
    with pytest.raises(DefinitionError, match="cannot stand for the Java sub-agent 'pricer'"):
        with_stand_ins(Shop(), {"pricer": object()})  # type: ignore[dict-item]  # the mistake
