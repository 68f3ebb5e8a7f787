"""Agents inside agents, driven by hand: addresses, checkpoints, mismatches, ends (N1–N5, decision 0013)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent import (
    InputEvent,
    OutputEvent,
    ReplayMismatchError,
    RunnerContext,
    SubagentResult,
)
from flink_agents_subagent._engine.effects import CancelCall, Emit, StartCall
from flink_agents_subagent._plan import compile_agent
from flink_agents_subagent.context import CallCourse, CallSpec
from tests.unit._engine.children import (
    DONE,
    Step,
    agent,
    ask,
    at_third_call,
    begin,
    call,
    caller,
    go_on,
    host_of,
    ran,
    records,
    stepping,
)
from tests.unit._engine.host import Host


def test_records_of_a_child_are_addressed_by_the_path_of_its_call() -> None:
    """Those of the run itself keep their plain numbers; the call itself has no record [N3, E5.2]."""
    host = host_of(stepping())
    host.input(1)
    host.run()

    assert host.outputs == DONE
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
    ran.clear()

    host = Host(compile_agent(stepping()), disk)
    host.start()

    assert ran == ["step 3"]
    assert [started.origin.execution for started in host.of(StartCall) if started.origin] == ["0.0/3"]
    host.run()
    assert host.outputs == DONE


def test_without_a_checkpoint_recorded_calls_of_a_child_are_not_made_again() -> None:
    """The input comes back and claims the journal, in which the child finds its own [N3, E4.4]."""
    before = at_third_call()

    host = host_of(stepping(), before)
    host.input(1)

    assert [started.origin.execution for started in host.of(StartCall) if started.origin] == ["0.0/3"]
    host.run()
    assert host.outputs == DONE


def test_of_a_child_that_has_ended_a_checkpoint_keeps_the_result_alone() -> None:
    """A thousand steps leave no entry of their own but the stubs of their records; none of them runs again [N5]."""

    def first(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Step(number=1))

    async def step(event: Step, ctx: RunnerContext) -> None:
        ran.append("step")
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
    ran.clear()

    restored = Host(compile_agent(made), host.snapshot())
    restored.start()
    restored.run()

    assert ran == [] and restored.outputs == [[SubagentResult.ok([]), "after"]]


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
