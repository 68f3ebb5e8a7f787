"""What agents inside agents share with their run: limits, resources, time, order (G1–G3, N1, E2.2)."""

from __future__ import annotations

import asyncio
from typing import Any

from flink_agents_subagent import (
    Agent,
    InputEvent,
    OutputEvent,
    ReplayMismatchError,
    ResourceType,
    RunnerContext,
    SubagentFutures,
)
from flink_agents_subagent._plan import compile_agent
from tests.unit._engine.children import (
    Step,
    agent,
    ask,
    at_third_call,
    begin,
    call,
    caller,
    go_on,
    host_of,
    records,
)
from tests.unit._engine.host import Host


def nested(depth: int) -> Agent:
    """Return an agent with so many inside one another, each of which says how deep it may still call."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        left = ctx._subagent_depth_left()
        try:
            child = ctx.agent_name[:-1] + str(int(ctx.agent_name[-1]) + 1)
            result = await ask(ctx, child)
        except LookupError:
            result = None
        ctx.send_event(OutputEvent(output=[left, None if result is None else result.error_message or result.result[0]]))

    made = agent(act, name=f"a{depth}")
    made.add_resource("a9", ResourceType.OBJECT, 1)
    for level in range(depth - 1, -1, -1):
        made = agent(act, name=f"a{level}", **{f"a{level + 1}": made})
    return made


def test_agents_nest_as_deep_as_the_option_says() -> None:
    """Each knows how much is left; one too deep is refused with the names from the outside in [G1, T16]."""
    host = host_of(nested(3), max_subagent_depth=2)
    host.input(1)
    host.run()

    refused = "sub-agents are nested deeper than subagent.max-depth = 2: a1 > a2 > a3"
    assert host.outputs == [[2, [1, [0, refused]]]]


def test_calls_of_all_scopes_count_against_the_limit_of_the_run_also_after_a_failover() -> None:
    """A child's calls count like its caller's, those of executions and children that are gone included [G2, G3]."""

    async def asks(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=[(await ask(ctx, "leaf")).reason for _ in range(2)]))

    def leaf(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="leaf"))

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        before = await SubagentFutures(ask(ctx, "middle"), ask(ctx, "middle")).await_all()
        ctx.send_event(Step(number=1))
        ctx.send_event(OutputEvent(output=[result.result for result in before]))

    async def later(event: Step, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "wait")
        ctx.send_event(OutputEvent(output=[(await ask(ctx, "leaf")).reason for _ in range(3)]))

    leaf_agent = agent(leaf, name="leaf")
    made = agent(act, later, middle=agent(asks, name="middle"), leaf=leaf_agent)
    host = host_of(made, max_subagent_calls=8)
    host.input(1)
    restored = Host(compile_agent(made), host.snapshot(), max_subagent_calls=8)
    restored.start()

    for each in (host, restored):
        each.run()
        assert each.outputs[-1] == [None, None, "limit"]


def test_a_child_finds_its_own_resources_first_and_then_those_of_its_caller() -> None:
    """The same name may mean different things; what neither has is refused with all that there is [N1]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        found = [ctx.get_resource(name, ResourceType.OBJECT) for name in ("both", "outer")]
        try:
            ctx.get_resource("none", ResourceType.OBJECT)
        except Exception as error:  # noqa: BLE001 - its text is looked at
            found.append(str(error))
        ctx.send_event(OutputEvent(output=[ctx.agent_name, ctx.action_name, ctx.key, ctx.timestamp, *found]))

    async def asks(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=(await ask(ctx, "child")).result))

    child = agent(act, name="child").add_resource("both", ResourceType.OBJECT, "child's")
    made = agent(asks, child=child).add_resource("both", ResourceType.OBJECT, "caller's")
    made.add_resource("outer", ResourceType.OBJECT, "caller's own")
    host = host_of(made)
    host.input(1, timestamp=5)

    says = "there is no resource 'none' of type object; there are ['both', 'outer']"
    assert host.outputs == [[["child", "act", "k", 5, "child's", "caller's own", says]]]


def test_patch_points_of_a_child_are_its_own() -> None:
    """An old journal leaves them unpatched, a new one carries the marker with the child's address [E3.8]."""
    took: list[bool] = []

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, 1)
        took.append(ctx.patched("change"))
        await ctx.durable_execute_async(call, 2)

    async def old(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, 1)
        await ctx.durable_execute_async(call, 2)

    old.__name__ = "act"
    hosts = [host_of(agent(caller, child=agent(function, name="child"))) for function in (act, old)]
    for host in hosts:
        host.input(1)
        for _ in range(2):
            host.run_call()
            host.acknowledge()
    took.clear()
    for before in hosts:
        again = host_of(agent(caller, child=agent(act, name="child")), before)
        again.input(1)
        again.run()

    assert took == [True, False]
    assert [record.markers for record in records(hosts[0])][1] == (("0.0/0", "change"),)


def test_an_action_that_became_a_def_is_a_mismatch() -> None:
    """It cannot have the sub-agent call that the checkpoint has of it; the error says so [E3.7]."""

    def became_def(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=1))

    before = at_third_call()
    became_def.__name__ = "caller"
    host = Host(compile_agent(agent(became_def, child=agent(begin, go_on, name="child"))), before.snapshot())
    host.start()

    assert isinstance(host.failure, ReplayMismatchError)
    assert "1 sub-agent calls of action 'caller', which is a `def` action now" in str(host.failure)


def restored(made: Agent, before: Host, **settings: Any) -> Host:
    """Return a host that goes on from a checkpoint."""
    host = Host(compile_agent(made), before.snapshot(), now_ms=before.now_ms, **settings)
    host.start()
    return host


def test_what_ended_children_were_allowed_counts_while_their_caller_goes_on() -> None:
    """Of the children only their results are left, and the caller runs again [G3, N5]."""

    async def asks(event: InputEvent, ctx: RunnerContext) -> None:
        await ask(ctx, "leaf")

    def leaf(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="leaf"))

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await SubagentFutures(ask(ctx, "middle"), ask(ctx, "middle")).await_all()
        await ctx.durable_execute_async(call, "wait")
        ctx.send_event(OutputEvent(output=[(await ask(ctx, "leaf")).reason for _ in range(3)]))

    made = agent(act, middle=agent(asks, name="middle"), leaf=agent(leaf, name="leaf"))
    host = host_of(made, max_subagent_calls=6)
    host.input(1)

    for each in (host, restored(made, host, max_subagent_calls=6)):
        each.run()
        assert each.outputs == [[None, None, "limit"]]


def moving_time(host: list[Host]) -> Agent:
    """Return an agent whose `def` action makes a call that takes 50 ms of the task's time."""

    def take_time() -> int:
        host[0].now_ms += 50
        return host[0].now_ms

    async def wait(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "wait")
        ctx.send_event(Step(number=1))

    def move(event: Step, ctx: RunnerContext) -> None:
        ctx.durable_execute(take_time)

    return agent(wait, move, name="mover")


def test_the_time_that_an_ended_child_has_moved_stays_moved() -> None:
    """Its `def` action took its records within the step; without the child the caller finds the same time there [E2.3, N5]."""
    hosts: list[Host] = []

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ask(ctx, "mover")
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(call, ctx.now())))

    made = agent(act, mover=moving_time(hosts))
    host = host_of(made)
    hosts.append(host)
    host.input(1)
    host.run_call()
    host.acknowledge()
    again = restored(made, host)

    for each in (host, again):
        each.run()
    assert again.outputs == host.outputs and host.outputs[0].timestamp() == 1000.05


def test_children_end_in_the_same_order_when_only_their_results_are_left() -> None:
    """A sibling moves the run's clock past another one's timer within a step; that one ends in a later step, each time [E2.2, N3]."""
    hosts: list[Host] = []

    async def sleeps(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.sleep(0.01)

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        order: list[str] = []

        async def one(name: str) -> None:
            await ask(ctx, name)
            order.append(name)

        await asyncio.gather(one("sleeper"), one("mover"))
        await ctx.durable_execute_async(call, order)
        ctx.send_event(OutputEvent(output=order))

    made = agent(act, sleeper=agent(sleeps, name="sleeper"), mover=moving_time(hosts))
    host = host_of(made)
    hosts.append(host)
    host.input(1)
    host.run_call()
    while not host.calls:
        host.run_to_rest()
    again = restored(made, host)

    for each in (host, again):
        each.run()
        assert each.failure is None and each.outputs == [["mover", "sleeper"]]
