"""The engine from input to output, and across a crash."""

from __future__ import annotations

import asyncio
import gc
import pickle
import weakref
from typing import Any

from flink_agents_subagent._engine.effects import Append, CallReturned, Count, Observe, StartCall, WriteMemory
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of


def count(event: InputEvent, ctx: RunnerContext) -> None:
    """Count the inputs of a key."""
    memory = ctx.short_term_memory
    memory.set("seen", memory.get("seen", 0) + 1)
    ctx.send_event(OutputEvent(output=[event.input, memory.get("seen")]))


def doubled(value: int) -> dict[str, int]:
    """A durable function."""
    return {"doubled": value * 2}


async def three_calls(event: InputEvent, ctx: RunnerContext) -> None:
    """One call, then two at a time, then a sleep."""
    first = await ctx.durable_execute_async(doubled, event.input)
    ctx.send_event(OutputEvent(output=first))
    others = await asyncio.gather(*[ctx.durable_execute_async(doubled, number) for number in (10, 20)])
    await asyncio.sleep(5)
    ctx.send_event(OutputEvent(output=[others, ctx.now().timestamp(), str(ctx.uuid4())]))


def test_a_def_action_sees_and_changes_the_memory_of_its_key() -> None:
    """Each input of a key sees what the one before wrote, and no other key's [E1.1, E6.1]."""
    host = Host(agent_of(count))

    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        host.input(value, key)

    assert host.outputs == [[1, 1], [2, 1], [3, 2]]
    assert host.finished == [1, 2, 3]
    assert len(host.of(WriteMemory)) == 3


def test_a_run_without_calls_leaves_no_trace_in_store_or_checkpoint() -> None:
    """It appends nothing, and a checkpoint after it has nothing to keep [E4.1, E4.6]."""
    host = Host(agent_of(count))

    host.input(1)

    assert host.of(Append) == []
    assert list(host.engine.snapshot(host.now_ms)) == []


def test_a_restored_run_goes_on_from_its_recorded_outcomes() -> None:
    """The first call is not made again, and what left before the barrier does not leave again [E1.9, E4.2, E4.5]."""
    host = Host(agent_of(three_calls))
    host.input(1)
    host.run_call()
    host.acknowledge()
    disk = host.snapshot()
    host.run()

    restored = Host(agent_of(three_calls), disk, now_ms=host.now_ms)
    inputs = restored.start()
    restored.run()

    assert inputs == 1
    assert host.outputs[:1] == [{"doubled": 2}]
    assert len(restored.of(StartCall)) == 2
    assert restored.outputs[0][0] == [{"doubled": 20}, {"doubled": 40}]
    assert restored.outputs[0][2] == host.outputs[1][2]
    assert restored.finished == [0]


def test_a_replayed_input_claims_the_journal_that_it_wrote() -> None:
    """Without a checkpoint the input comes back and finds all its records: no call is made, and the outputs are equal [E4.4]."""
    host = Host(agent_of(three_calls))
    host.input(1)
    host.run()

    replayed = Host(agent_of(three_calls), Disk(log=host.disk.log), now_ms=host.now_ms + 60_000)
    replayed.start()
    replayed.input(1)

    assert replayed.outputs == host.outputs
    assert replayed.of(StartCall) == []
    assert replayed.finished == [1]


def test_the_value_of_a_call_is_a_copy_in_the_first_run_too() -> None:
    """What the function does to its result later does not reach the action, as it could not on replay [E3.5]."""
    shared: dict[str, Any] = {"n": 1}

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        value = await ctx.durable_execute_async(lambda: shared)
        shared["n"] = 2
        ctx.send_event(OutputEvent(output=value))

    host = Host(agent_of(action))
    host.input(1)
    host.run()

    assert host.outputs == [{"n": 1}]


def test_runs_that_follow_each_other_in_one_command_see_each_others_writes() -> None:
    """Memory and run numbers are those of the runs before, although the host has not written them yet [E1.1, E6.2, E5.2]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        if event.input == "waits":
            await ctx.durable_execute_async(doubled, 1)
        memory = ctx.short_term_memory
        memory.set("seen", [*memory.get("seen", []), event.input])
        ctx.send_event(OutputEvent(output=[memory.get("seen"), str(ctx.uuid4())]))

    host = Host(agent_of(action))
    for value in ("waits", "b", "c"):
        host.input(value)
    assert host.outputs == []
    host.run()

    assert [seen for seen, _ in host.outputs] == [["waits"], ["waits", "b"], ["waits", "b", "c"]]
    assert len({text for _, text in host.outputs}) == 3
    assert host.disk.run_numbers == {b"sk": 3}
    assert host.finished == [1, 2, 3]


def test_an_idle_key_leaves_nothing_behind() -> None:
    """A million keys that have had their input cost the engine no memory, but for a bounded number of run numbers [PF10]."""
    host = Host(agent_of(count, three_calls))
    for number in range(20):
        host.input(number, number)
    host.run()
    host.snapshot()

    engine = host.engine
    assert len(host.finished) == 20
    assert not any((engine._runs, engine._queues, engine._touched, engine._stored, engine._core.awaiting))
    assert not any((engine._core.calls._running, engine._core._memory_written))
    assert len(engine._core.deadlines) == 0


def test_a_finished_run_is_freed_at_once() -> None:
    """No cycle is left for the garbage collector, which would stop the task for it [PF10]."""
    gc.collect()
    gc.disable()
    try:
        host = Host(agent_of(three_calls))
        host.input(1)
        (run,) = host.engine._runs.values()
        loop = weakref.ref(run._active[0].loop)  # type: ignore[attr-defined]
        del run
        host.run()
        host.effects.clear()

        assert loop() is None
    finally:
        gc.enable()


def test_a_key_is_not_held_up_by_another() -> None:
    """Runs of different keys interleave: the second ends while the first still waits [E1.1]."""
    host = Host(agent_of(three_calls))
    host.input(1, "a")
    host.input(1, "b")

    for call in (2, 3, 4):
        host.run_call(call)
        host.acknowledge()
    host.advance(5_000)
    host.acknowledge()

    assert host.finished == [2]
    assert 1 in host.calls


def test_metrics_are_summed_up_until_the_host_asks() -> None:
    """Increments of several commands make one count, values of a histogram stay apart; both are handed over once [E7.1]."""
    host = Host(agent_of(three_calls))
    engine, calls = host.engine, f"{doubled.__module__}:doubled"
    for ticket, key in enumerate((b"sa", b"sb"), start=1):
        engine.process_input(ticket, key, pickle.dumps(1), None, host.now_ms)
    started = [effect.call for effect in engine.take_effects() if isinstance(effect, StartCall)]
    for passed_ms, call in zip((5, 7), started, strict=True):
        engine.complete_call(call, CallReturned(1), host.now_ms + passed_ms)

    metrics = engine.take_metrics()

    assert Count("calls_started", calls, 2) in metrics
    assert Observe("call_latency_ms", calls, [5, 7]) in metrics
    assert engine.take_metrics() == []
