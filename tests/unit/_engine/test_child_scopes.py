"""Agents inside agents, driven by hand: addresses, checkpoints, mismatches, limits (N1–N5, decision 0013)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    Event,
    InputEvent,
    OutputEvent,
    ReplayMismatchError,
    ResourceType,
    RunnerContext,
    SubagentFutures,
    SubagentResult,
)
from flink_agents_subagent._engine.effects import CancelCall, Emit, StartCall
from flink_agents_subagent._engine.record import Record, decode_record
from flink_agents_subagent._plan import compile_agent
from flink_agents_subagent.context import CallCourse, CallSpec
from tests.unit._engine.host import Host

_ran: list[str] = []


class Step(Event):
    """The next step of a child."""

    number: int


async def call(value: Any) -> Any:
    """A durable function."""
    return value


def agent(*functions: Callable[..., Any], name: str = "caller", **children: Agent) -> Agent:
    """Return an agent whose functions are triggered by the input, or by the event in their annotation."""
    made = Agent(name)
    for function in functions:
        trigger = Step if function.__annotations__["event"] == "Step" else InputEvent
        made.add_action(function.__name__, trigger, function)
    for child, its_agent in children.items():
        made.add_resource(child, ResourceType.AGENT, its_agent)
    return made


def ask(ctx: RunnerContext, name: str, value: Any = None, timeout: float | None = None) -> Any:
    """Submit to a sub-agent."""
    return ctx.get_resource(name, ResourceType.AGENT).submit(ctx, value, timeout=timeout)


def host_of(made: Agent, before: Host | None = None, **settings: Any) -> Host:
    """Return a host for an agent, restored from what another one left."""
    if before is None:
        return Host(compile_agent(made), **settings)
    host = Host(compile_agent(made), before.disk, **settings)
    host.start()
    return host


def records(host: Host) -> list[Record]:
    """Return what is in the store."""
    return [decode_record(append.record_number, append.payload, "") for append in host.disk.log]


def begin(event: InputEvent, ctx: RunnerContext) -> None:
    """Remember the input, and take the first step."""
    _ran.append("begin")
    ctx.short_term_memory.set("seen", [event.input])
    ctx.send_event(Step(number=1))


async def go_on(event: Step, ctx: RunnerContext) -> None:
    """Call once; end after four steps."""
    _ran.append(f"step {event.number}")
    answer = await ctx.durable_execute_async(call, f"call {event.number}")
    ctx.short_term_memory.set("seen", [*ctx.short_term_memory.get("seen"), answer])
    ctx.send_event(OutputEvent(output=answer))
    if event.number < 4:
        ctx.send_event(Step(number=event.number + 1))
    else:
        ctx.send_event(OutputEvent(output=ctx.short_term_memory.get("seen")))


async def caller(event: InputEvent, ctx: RunnerContext) -> None:
    """Call the child, then once more outside."""
    result = await ask(ctx, "child", event.input)
    after = await ctx.durable_execute_async(call, "after")
    ctx.send_event(OutputEvent(output=[result, after]))


_SEEN = [1, "call 1", "call 2", "call 3", "call 4"]
_DONE = [[SubagentResult.ok([*_SEEN[1:], _SEEN]), "after"]]


def stepping() -> Agent:
    """Return an agent with a child of four steps."""
    _ran.clear()
    return agent(caller, child=agent(begin, go_on, name="child"))


def at_third_call() -> Host:
    """Return a host whose child waits for its third call."""
    host = host_of(stepping())
    host.input(1)
    for _ in range(2):
        host.run_call()
        host.acknowledge()
    return host


def test_records_of_a_child_are_addressed_by_the_path_of_its_call() -> None:
    """Those of the run itself keep their plain numbers; the call itself has no record [N3, E5.2]."""
    host = host_of(stepping())
    host.input(1)
    host.run()

    assert host.outputs == _DONE
    assert [(record.execution, record.slot) for record in records(host)] == [
        ("0.0/1", 0),
        ("0.0/2", 0),
        ("0.0/3", 0),
        ("0.0/4", 0),
        (0, 1),
    ]


def test_finished_executions_of_a_child_do_not_run_again() -> None:
    """Restored while it waits for its third call, it has its memory and outputs and makes only that call and what follows [N2, N3, E4.5]."""
    before = at_third_call()
    disk = before.snapshot()
    _ran.clear()

    host = Host(compile_agent(stepping()), disk)
    host.start()

    assert _ran == ["step 3"]
    assert [started.origin.execution for started in host.of(StartCall) if started.origin] == ["0.0/3"]
    host.run()
    assert host.outputs == _DONE


def test_without_a_checkpoint_recorded_calls_of_a_child_are_not_made_again() -> None:
    """The input comes back and claims the journal, in which the child finds its own [N3, E4.4]."""
    before = at_third_call()

    host = host_of(stepping(), before)
    host.input(1)

    assert [started.origin.execution for started in host.of(StartCall) if started.origin] == ["0.0/3"]
    host.run()
    assert host.outputs == _DONE


def test_of_a_child_that_has_ended_a_checkpoint_keeps_the_result_alone() -> None:
    """A thousand steps leave no entry of their own but the stubs of their records; none of them runs again [N5]."""

    def first(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Step(number=1))

    async def step(event: Step, ctx: RunnerContext) -> None:
        _ran.append("step")
        ctx.sensory_memory.set(f"step {event.number}", "x" * 1000)
        await ctx.durable_execute_async(call, "y" * 1000)
        if event.number < 1000:
            ctx.send_event(Step(number=event.number + 1))

    made = agent(caller, child=agent(first, step, name="child"))
    host = host_of(made)
    host.input(1)
    sizes = []
    for _ in range(1000):
        host.run_call()
        host.acknowledge()
    sizes.append(sum(map(len, host.snapshot().entries.values())))
    assert sizes[0] < 100_000
    _ran.clear()

    restored = Host(compile_agent(made), host.snapshot())
    restored.start()
    restored.run()

    assert _ran == [] and restored.outputs == [[SubagentResult.ok([]), "after"]]


def test_a_child_that_was_changed_is_a_mismatch() -> None:
    """Another call in the place of a recorded one, or none where one was, names the address; nothing is sent [E3.7, E2.2]."""
    before = at_third_call()

    async def other(event: Step, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "another")

    async def nothing(event: Step, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="no call"))

    for changed in (other, nothing):
        host = host_of(agent(caller, child=agent(begin, changed, name="child")), before)
        host.input(1)

        assert isinstance(host.failure, ReplayMismatchError)
        assert "execution 0.0/1" in str(host.failure) and not host.of(StartCall)


def test_a_call_that_the_checkpoint_has_must_be_made_again() -> None:
    """Another value, or no call, in the place of one that had ended is a mismatch: its result would be that of something else [D4, E3.7]."""

    async def sends_another(event: InputEvent, ctx: RunnerContext) -> None:
        await ask(ctx, "child", "another value")
        await ctx.durable_execute_async(call, "after")

    async def sends_none(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.uuid4()
        await asyncio.sleep(1)

    before = host_of(stepping())
    before.input(1)
    for _ in range(4):
        before.run_call()
        before.acknowledge()
    disk = before.snapshot()

    for changed, says in ((sends_another, "the code calls"), (sends_none, "has not opened a sub-agent call in slot 0")):
        changed.__name__ = "caller"
        host = Host(compile_agent(agent(changed, child=agent(begin, go_on, name="child"))), disk)
        host.start()

        assert isinstance(host.failure, ReplayMismatchError)
        assert says in str(host.failure) and not host.of(StartCall)


def test_a_call_without_records_must_be_made_again_too() -> None:
    """The checkpoint knows that it was made, though the journal does not; nothing is sent [E3.7]."""

    def quiet(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=1))

    async def calls_only(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "after")

    before = host_of(agent(caller, child=agent(quiet, name="child")))
    before.input(1)
    calls_only.__name__ = "caller"
    host = Host(compile_agent(agent(calls_only, child=agent(quiet, name="child"))), before.snapshot())
    host.start()

    assert isinstance(host.failure, ReplayMismatchError)
    assert "which action 'caller' did not make" in str(host.failure) and not host.of(StartCall)


@pytest.mark.logs_warning
def test_with_rerun_a_changed_child_is_called_afresh() -> None:
    """From the first record that does not fit; the run comes to an end [E3.7]."""
    before = at_third_call()

    async def other(event: Step, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(call, "another")))

    host = host_of(agent(caller, child=agent(begin, other, name="child")), before, on_mismatch="rerun")
    host.input(1)
    host.run()

    assert host.failure is None and host.outputs == [[SubagentResult.ok(["another"]), "after"]]


def test_a_dead_lettered_input_cancels_the_calls_of_its_children_and_a_closing_task_does_not() -> None:
    """They are cancelled when the failure is final, and attached to again otherwise [I7]."""

    async def fails(event: InputEvent, ctx: RunnerContext) -> None:
        waiter = asyncio.ensure_future(_awaited(ask(ctx, "child", 1)))
        await asyncio.sleep(1)
        raise ValueError(waiter.done())

    made = agent(fails, child=agent(begin, go_on, name="child"))
    closed, failed = (host_of(made, on_action_error="dead-letter") for _ in range(2))
    for host in (closed, failed):
        host.input(1)
    closed.engine.close()
    closed.perform()
    failed.advance(1000)
    failed.acknowledge()

    assert not closed.of(CancelCall)
    assert len(failed.of(CancelCall)) == 1 and failed.of(Emit)[0].is_dead_letter and len(failed.finished) == 1


async def _awaited(handle: Any) -> Any:
    return await handle


@pytest.mark.logs_warning
def test_a_child_that_fails_has_its_open_calls_cancelled_while_the_caller_goes_on() -> None:
    """The failure is final, so nothing of it is left to be waited for [N4, I7]."""

    async def fails(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute_async(call, "open")
        await ctx.durable_execute_async(call, "first")
        raise ValueError("after the first")

    host = host_of(agent(caller, child=agent(fails, name="child")))
    host.input(1)
    opened, first = host.calls
    host.run_call(first)
    host.acknowledge()

    assert [cancelled.call for cancelled in host.of(CancelCall)] == [opened]
    host.run()
    ((result, after),) = host.outputs
    assert (result.error_message, after) == ("ValueError: after the first", "after")


def test_a_child_ends_before_its_calls_are_taken_back() -> None:
    """Whether that is needed is not known on a replay; the caller goes on, and its run ends when they have been [N4, M7]."""

    async def leaves(event: InputEvent, ctx: RunnerContext) -> None:
        undo = CallSpec(lambda: "undone", "undo", b"", False)
        course = CallCourse(undo=lambda: undo)
        handle = ctx._open_call(CallSpec(lambda: "sent", "send", b"", False, reconciler=lambda: None, course=course))
        await asyncio.sleep(1)
        handle.cancel()

    host = host_of(agent(caller, child=agent(leaves, name="child")))
    host.input(1)
    host.acknowledge()
    host.advance(1000)
    host.acknowledge()

    sent, after = host.calls.values()
    assert sent.name == "send" and after.name.endswith(":call")
    host.run_call(after.call)
    host.acknowledge()
    assert host.outputs == [[SubagentResult.ok([]), "after"]] and host.finished == []
    host.run()
    assert [started.name for started in host.of(StartCall)][-1] == "undo" and host.finished == [1]


def test_a_child_that_is_faster_than_the_record_of_its_time_out_wins() -> None:
    """Its outcome was appended first; the record that comes too late is passed over, and on a replay too [M6, E2.2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        result = await ask(ctx, "child", 1, timeout=1)
        await ctx.durable_execute_async(call, "after")
        ctx.send_event(OutputEvent(output=result.reason))

    async def once(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "only")

    made = agent(act, child=agent(once, name="child"))
    host = host_of(made)
    host.input(1)
    host.run_call()
    host.advance(1000)
    assert [(record.execution, record.status) for record in records(host)] == [("0.0/0", "ok"), (0, "timeout")]
    host.acknowledge()
    again = host_of(made, host)
    again.input(1)

    for each in (host, again):
        each.run()
        assert each.outputs == [None]


def test_what_is_left_of_a_time_out_goes_by_the_records() -> None:
    """Time between records counts across a failover, the outage does not [M6]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=(await ask(ctx, "child", 1, timeout=10)).reason))

    made = agent(act, child=agent(begin, go_on, name="child"))
    before = host_of(made)
    before.input(1)
    before.advance(6000)
    before.run_call()
    before.acknowledge()
    host = host_of(made, before, now_ms=90_000_000)
    host.input(1)

    assert host.timer_ms == 90_000_000 + 4000
    host.advance(4000)
    host.acknowledge()
    assert host.outputs == ["timeout"] and len(host.of(CancelCall)) == 1


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
