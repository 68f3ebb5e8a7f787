"""Who asks: sessions and call ids of both modes, over actions, inputs, keys and crashes."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    Agent,
    BaseDeferredSubagentSetup,
    ContextMisuseError,
    InputEvent,
    NotExpressibleError,
    OutputEvent,
    ReplayMismatchError,
    ResourceType,
    RunnerContext,
    RunState,
    RunStatus,
    SubagentFutures,
    SubagentRequest,
)
from flink_agents_subagent._engine.effects import StartCall
from flink_agents_subagent._plan import compile_agent
from flink_agents_subagent.testing import LocalRunner, simulate_crashes
from tests.unit._engine.host import Disk, Host
from tests.unit.subagents.remote import Jobs


class Deferred(BaseDeferredSubagentSetup):
    """Tells who asked."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[SubagentRequest] = []

    async def call(self, request: SubagentRequest) -> str:
        """Answer."""
        self.requests.append(request)
        return request.call_id


class Asynchronous(Jobs):
    """The same in jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = []

    async def call_submit_request(self, request: SubagentRequest) -> str:
        """Start."""
        self.requests.append(("submit", request))
        return request.call_id

    async def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Say that it is ready."""
        return RunStatus(RunState.COMPLETED, run=request.call_id)

    async def call_fetch_result(self, request: SubagentRequest) -> str:
        """Answer."""
        return request.call_id


SETUPS = [Deferred, Asynchronous]


@pytest.mark.parametrize("setup", SETUPS)
def test_a_session_that_is_used_everywhere_at_once_has_no_call_id_twice(setup: Any) -> None:
    """Two actions, two inputs of a key and two keys use one session, and generated ones besides [D1, D2, D3]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        helper = ctx.get_resource("helper", ResourceType.AGENT)
        shared = [helper.submit(ctx, "same", session_id="shared") for _ in range(2)]
        own = helper.submit(ctx, "same")
        more = helper.submit(ctx, "same", session_id=own.session_id)
        results = await SubagentFutures(*shared, own, more).await_all()
        assert [result.result for result in results] == [handle.call_id for handle in (*shared, own, more)]
        ctx.send_event(OutputEvent(output=[(handle.session_id, handle.call_id) for handle in (*shared, own, more)]))

    agent = Agent("caller").add_resource("helper", ResourceType.AGENT, setup())
    agent.add_action("one", InputEvent, act).add_action("two", InputEvent, act)

    values = LocalRunner(agent).run([("a", 1), ("a", 1), ("b", 1), ("b", 2)]).values

    pairs = [pair for value in values for pair in value]
    assert len(pairs) == 32 and len({call_id for _, call_id in pairs}) == 32
    sessions = [session for session, _ in pairs]
    assert sessions.count("shared") == 16 and len(set(sessions)) == 9


@pytest.mark.parametrize("setup", SETUPS)
def test_a_conversation_is_continued_over_inputs_and_crashes(setup: Any) -> None:
    """Its session is kept in memory; each turn has an id of its own, the same in every life [D2, D3, E6.2, E8.2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        helper = ctx.get_resource("helper", ResourceType.AGENT)
        handle = helper.submit(ctx, event.input, session_id=ctx.short_term_memory.get("session"))
        ctx.short_term_memory.set("session", handle.session_id)
        await handle
        ctx.send_event(OutputEvent(output=(handle.session_id, handle.call_id)))

    agent = Agent("chat").add_action("act", InputEvent, act).add_resource("helper", ResourceType.AGENT, setup())
    report = simulate_crashes(agent, [("ada", 1), ("ada", 2), ("bob", 1), ("ada", 3)], seeds=5)

    ada = [output.value for output in report.result.outputs if output.key == "ada"]
    bob = [output.value for output in report.result.outputs if output.key == "bob"]
    assert len({session for session, _ in ada}) == 1 and len({call_id for _, call_id in ada}) == 3
    assert ada[0][0] != bob[0][0]
    assert report.differences == []


@pytest.mark.parametrize("setup", SETUPS)
def test_a_plain_action_cannot_submit(setup: Any) -> None:
    """It could never await the handle: `submit` says what to change, and counts nothing [I5, E2.6]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.get_resource("helper", ResourceType.AGENT).submit(ctx, 1)

    agent = Agent("caller").add_action("act", InputEvent, act).add_resource("helper", ResourceType.AGENT, setup())

    with pytest.raises(ActionError, match="declare the action async def") as caught:
        LocalRunner(agent).run([("k", 1)])
    assert isinstance(caught.value.__cause__, ContextMisuseError)


@pytest.mark.parametrize("setup", SETUPS)
def test_a_prompt_that_cannot_be_encoded_is_refused_with_its_path(setup: Any) -> None:
    """By `submit`, before anything is reserved; the next call is the first [I1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        helper = ctx.get_resource("helper", ResourceType.AGENT)
        with pytest.raises(NotExpressibleError, match="object"):
            helper.submit(ctx, {"a": [1, object()]})
        ctx.send_event(OutputEvent(output=(await helper.submit(ctx, 1)).result))

    agent = Agent("caller").add_action("act", InputEvent, act).add_resource("helper", ResourceType.AGENT, setup())

    (call_id,) = LocalRunner(agent).run([("k", 1)]).values

    assert call_id.endswith("-0-0")


@pytest.mark.parametrize(
    ("setup", "slots"), [(Deferred, ["{}"]), (Asynchronous, ["{}#submit", "{}#await"])], ids=["deferred", "async"]
)
@pytest.mark.parametrize("changed", ["prompt", "name"])
def test_slots_carry_call_id_name_and_prompt(setup: Any, slots: list[str], changed: str) -> None:
    """A replay finds the outcome by them; with another prompt, or sub-agent, it is a mismatch [D4, E3.7]."""

    def host(prompt: str, name: str, disk: Disk | None = None) -> Host:
        async def act(event: InputEvent, ctx: RunnerContext) -> None:
            await ctx.get_resource(name, ResourceType.AGENT).submit(ctx, prompt)

        agent = Agent("caller").add_action("act", InputEvent, act)
        for other in ("helper", "other"):
            agent.add_resource(other, ResourceType.AGENT, setup())
        return Host(compile_agent(agent), disk)

    first = host("hello", "helper")
    first.input(1)
    first.run()
    names = [start.origin.function_id for start in first.of(StartCall) if start.origin is not None]
    call_id = names[0].partition("#")[0]
    same = host("hello", "helper", Disk(log=first.disk.log))
    same.start()
    same.input(1)
    other = host("bye", "helper", Disk(log=first.disk.log)) if changed == "prompt" else None
    other = other or host("hello", "other", Disk(log=first.disk.log))
    other.start()
    other.input(1)

    assert names == [slot.format(call_id) for slot in slots]
    assert same.of(StartCall) == [] and same.finished == [1]
    assert isinstance(other.failure, ReplayMismatchError)
