"""Records that a checkpoint holds although the store had not acknowledged them: it may never have got them (E4.2, S1.2, S1.8)."""

from __future__ import annotations

from typing import Any

from flink_agents_subagent._engine.effects import Append, StartCall
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on
from tests.unit._engine.programs import coroutine


async def act(event: InputEvent, ctx: RunnerContext) -> None:
    """Make three calls, one after the other."""
    values = [await ctx.durable_execute_async(coroutine, number) for number in range(3)]
    ctx.send_event(OutputEvent(output=values))


def restored(disk: Disk, *actions: Any) -> Host:
    """Start another process."""
    host = Host(agent_of(*(actions or (act,))), disk, now_ms=2_000_000)
    host.start()
    return host


def unacknowledged() -> tuple[Host, Disk]:
    """Return a host whose second record is not acknowledged, and its checkpoint."""
    host = Host(agent_of(act))
    host.input(1)
    host.run_call()
    host.acknowledge()
    host.run_call()
    return host, host.snapshot()


def numbers(host: Host) -> list[int]:
    """Return the numbers of the records that a process appended."""
    return [append.record_number for append in host.of(Append)]


def test_an_older_checkpoint_can_be_restored_although_the_store_lost_what_a_newer_one_holds() -> None:
    """The record is appended again before those that follow it: no gap cuts them off [S1.2, S1.8, E4.2]."""
    host, disk = unacknowledged()
    durable = host.disk.log[:1]

    newer = restored(disk)
    newer.run()
    assert newer.outputs == [[0, 1, 2]]
    assert numbers(newer) == [2, 3]

    older = restored(Disk(log=[*durable, *newer.disk.log]))
    older.input(1)
    assert older.of(StartCall) == []
    assert older.outputs == [[0, 1, 2]]


def test_what_was_acknowledged_is_not_appended_again() -> None:
    """A restore writes nothing that the store has [E4.2, PF6]."""
    host, _ = unacknowledged()
    host.acknowledge()

    assert numbers(restored(host.snapshot())) == []


def test_a_record_behind_the_barrier_proves_those_before_it() -> None:
    """To append one of them again would make the store forget what an earlier writer wrote behind it [S1.2, S1.3]."""
    host, disk = unacknowledged()
    host.acknowledge()
    host.run_call()
    disk.log = [host.disk.log[-1]]

    again = restored(disk)

    assert numbers(again) == []
    assert again.outputs == [[0, 1, 2]]


def test_it_does_not_prove_those_behind_it() -> None:
    """A life that appended again died before it was through [S1.2, E4.2]."""
    host = Host(agent_of(ends, goes_on))
    host.input(1)
    for _ in range(3):
        host.run_call()
    disk = host.snapshot()
    again = restored(disk, ends, goes_on)
    assert numbers(again) == [1, 2, 3]

    disk.log = again.of(Append)[:2]

    assert numbers(restored(disk, ends, goes_on)) == [3]


def test_a_run_goes_on_once_it_is_acknowledged() -> None:
    """Nothing is based on a record that an older checkpoint would not find; the next checkpoint knows what is still open [E2.2, S1.8]."""
    _, disk = unacknowledged()

    again = restored(disk)
    assert again.calls == {}

    assert numbers(restored(again.snapshot())) == [2]
    again.acknowledge()
    assert len(again.calls) == 1
    assert numbers(restored(again.snapshot())) == []
    again.run()
    assert again.outputs == [[0, 1, 2]]


ran: list[str] = []


async def collects(event: InputEvent, ctx: RunnerContext) -> None:
    """End after two calls, with an output and an event behind each."""
    ran.append("collects")
    for number in range(2):
        await ctx.durable_execute_async(coroutine, number)
        ctx.send_event(OutputEvent(output=number))
        ctx.send_event(Sent())


def test_what_had_happened_behind_it_is_kept_until_then() -> None:
    """Logs of ended actions and outputs that have left survive a checkpoint that is taken while the run waits for the store [E1.9, E4.5]."""
    ran.clear()
    host = Host(agent_of(collects, goes_on))
    host.input(1)
    host.run_call()
    host.acknowledge()
    for _ in range(2):
        host.run_call()
    host.acknowledge(1)
    assert host.outputs == [0, 1]
    disk = host.snapshot()
    assert len(host.unacknowledged) == 1

    for _ in range(3):
        again = restored(disk, collects, goes_on)
        assert again.outputs == []
        disk = again.snapshot()
    again.run()

    assert ran == ["collects"]
    assert again.outputs == []
    assert again.failure is None
    assert again.finished == [0]


class Sent(Event):
    """Sent to an action that goes on waiting."""


async def ends(event: InputEvent, ctx: RunnerContext) -> None:
    """End while a call that nobody awaits is recorded."""
    ctx.send_event(Sent())
    ctx.durable_execute_async(coroutine, "nobody waits")
    await ctx.durable_execute_async(coroutine, "awaited")


@on(Sent)
async def goes_on(event: Sent, ctx: RunnerContext) -> None:
    """Wait for longer."""
    await ctx.durable_execute_async(coroutine, "longer")


def test_a_record_that_nobody_needs_is_whole_until_the_store_has_it() -> None:
    """What a finished action got is kept without its value only once it cannot be lost [E4.2, E4.5]."""
    host = Host(agent_of(ends, goes_on))
    host.input(1)
    calls = {start.function.args[0]: number for number, start in host.calls.items()}  # type: ignore[attr-defined]
    host.returns("awaited", calls["awaited"])
    host.returns("late", calls["nobody waits"])
    host.acknowledge(1)

    again = restored(host.snapshot(), ends, goes_on)

    assert [append.payload for append in again.of(Append)] == [host.disk.log[1].payload]
