"""Which input gets which journal and which number after a restore (E4.4, E5.2), when that is not obvious."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent._engine.checkpoint import decode_key_entry
from flink_agents_subagent._engine.effects import Append, Log, StartCall, WriteRunNumber
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.record import decode_record
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import EncodingError
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on


async def charge(value: Any) -> Any:
    """A durable function."""
    return value


async def every_third(event: InputEvent, ctx: RunnerContext) -> None:
    """Count; charge for every third input, take an id for the others."""
    count = ctx.short_term_memory.get("count", 0) + 1
    ctx.short_term_memory.set("count", count)
    paid = None if count % 3 else await ctx.durable_execute_async(charge, count)
    ctx.send_event(OutputEvent(output=[count, paid, str(ctx.uuid4())]))


async def hourly(event: InputEvent, ctx: RunnerContext) -> None:
    """Charge for the inputs of an hour; the time decides which input does it."""
    memory = ctx.short_term_memory
    now, since = ctx.now(), memory.get("since", ctx.now())
    count = memory.get("count", 0) + 1
    memory.set("since", since)
    memory.set("count", count)
    if now - since < timedelta(hours=1):
        return
    memory.set("since", now)
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(charge, count)))


def restored(action: Any, disk: Disk, now_ms: int = 5_000_000, **settings: Any) -> Host:
    """Start another process from what a disk holds."""
    host = Host(agent_of(action), disk, now_ms=now_ms, **settings)
    host.start()
    return host


def finish(host: Host) -> None:
    """Let calls and acknowledgements go on until the run has ended."""
    while host.calls or host.unacknowledged:
        host.run_call() if host.calls else host.acknowledge()


def ticked(action: Any, disk: Disk, times: int, **settings: Any) -> Host:
    """Bring the same input so many times, and let its calls end."""
    host = restored(action, disk, **settings)
    for _ in range(times):
        host.input("tick")
        finish(host)
    return host


def after(checkpoint: Disk, *lives: Host) -> Disk:
    """Return what a restore of a checkpoint finds, with all that was recorded since."""
    entries = dict(checkpoint.entries)
    log = [append for life in lives for append in life.disk.log]
    return Disk(dict(checkpoint.memory), dict(checkpoint.run_numbers), entries, log)


def test_a_claimed_journal_is_not_in_the_next_checkpoint() -> None:
    """Nor when others of the key still wait, and its run began and ended between two checkpoints [E4.4]."""
    first = ticked(every_third, Disk(), 6)
    second = restored(every_third, after(Disk(), first))
    second.snapshot()
    for _ in range(3):
        second.input("tick")
    disk = second.snapshot()

    (entry,) = disk.entries.values()
    kept = decode_key_entry(ValueCodec(TypeRegistry({}), allow_pickle=False), entry).unclaimed

    assert [(journal.run_number, len(journal.records)) for journal in kept] == [(4, 0), (5, 0), (6, 1)]


def test_identical_inputs_of_which_some_record_nothing_find_their_own_journals() -> None:
    """A run without records is not given the journal of a later input that looks the same, and keeps its ids [E4.4, E5.3]."""
    first = ticked(every_third, Disk(), 7)

    again = ticked(every_third, after(Disk(), first), 7)

    assert again.failure is None
    assert again.of(StartCall) == []
    assert again.outputs == first.outputs
    assert again.counted("unclaimed_journals") == 0


def test_time_that_has_gone_by_does_not_change_what_was_before_a_journal() -> None:
    """Runs without records have their time again if a journal is behind them: memory is what it was then [E2.3, E4.4]."""
    first = restored(hourly, Disk(), now_ms=0)
    for _ in range(4):
        first.input("tick")
        finish(first)
        first.now_ms += 1_200_000

    again = restored(hourly, after(Disk(), first), now_ms=90_000_000)
    for _ in range(4):
        again.input("tick")
        finish(again)

    assert again.failure is None
    assert first.outputs == again.outputs == [4]
    assert again.of(StartCall) == []


def test_a_journal_names_the_runs_without_records_since_the_checkpoint_before_the_last() -> None:
    """Neither those that a journal has named already, nor those that neither checkpoint brings back [E4.4, PF6]."""
    host = Host(agent_of(every_third))
    for number in range(1, 19):
        host.input("tick")
        finish(host)
        if number in (8, 10, 11):
            host.snapshot()
    named = [_named(append) for append in host.disk.log]

    assert named == [[1, 2], [4, 5], [7, 8], [11], [13, 14], [16, 17]]


@pytest.mark.parametrize("size", [1000, 2600, 3750])
def test_naming_them_makes_no_record_too_large(size: int) -> None:
    """A value that fits alone fits behind any number of runs without records [E3.13]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.uuid4()
        if event.input == 99:
            await ctx.durable_execute_async(charge, 1)

    host = Host(agent_of(act), max_record_bytes=4096)
    for number in range(100):
        host.input(number)
    host.returns("x" * size)
    host.acknowledge()

    assert host.failure is None
    assert host.finished[-1] == 100
    assert len(_named(host.disk.log[0])) == (16 if size == 1000 else 7 if size == 2600 else 0)


def _named(append: Append) -> list[int]:
    head = decode_record(append.record_number, append.payload, "").head
    assert head is not None
    return [run.run_number for run in head.unrecorded]


@pytest.mark.parametrize("on_action_error", ["fail", "dead-letter"])
def test_a_restore_of_an_older_checkpoint_may_give_a_journal_back(on_action_error: str) -> None:
    """An input that comes to its end without its journal has that of an identical one: it begins anew without it [E4.4, S1.8]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=str(ctx.uuid4())))
        if on_action_error == "dead-letter" and ctx.short_term_memory.get("count", 0) == 0:
            ctx.short_term_memory.set("count", 1)
        await every_third(event, ctx)

    first = ticked(act, Disk(), 2, on_action_error=on_action_error)
    second = ticked(act, after(first.snapshot()), 1, on_action_error=on_action_error)

    again = ticked(act, after(Disk(), first, second), 3, on_action_error=on_action_error)

    assert again.failure is None
    assert again.of(StartCall) == []
    assert again.outputs == first.outputs + second.outputs
    assert again.counted("unclaimed_journals") == 0


def test_a_run_that_begins_anew_is_told_once() -> None:
    """What the event log had of its first try is taken back with its other effects [E7.2, E4.4]."""
    first = ticked(every_third, Disk(), 2)
    second = ticked(every_third, after(first.snapshot()), 1)

    again = ticked(every_third, after(Disk(), first, second), 3, event_log="standard")

    entries = [effect.entry for effect in again.of(Log)]
    told = [(entry["run"], entry["what"], entry["status"]) for entry in entries if entry["what"] != "event"]
    around = [("run", "started"), ("execution", "started"), ("execution", "ok"), ("run", "ok")]
    assert [it for it in told if it[1] != "call"] == [(run, *it) for run in (1, 2, 3) for it in around]
    assert [it for it in told if it[1] == "call"] == [(3, "call", "ok")]
    assert [entry["replayed"] for entry in entries if entry["what"] == "call"] == [True]


def test_an_input_that_fails_does_not_keep_the_journal_of_an_identical_one() -> None:
    """It is dead-lettered once more, with what it had sent before, and the other gets its journal [E1.8, E4.4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=str(ctx.uuid4())))
        if ctx.timestamp == 1:
            raise ValueError
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(charge, 1)))

    def run(disk: Disk, *times: int) -> Host:
        host = restored(act, disk, on_action_error="dead-letter")
        for time in times:
            host.input("tick", timestamp=time)
            finish(host)
        return host

    first = run(Disk(), 1)
    second = run(after(first.snapshot()), 2)

    again = run(after(Disk(), first, second), 1, 2)

    assert again.failure is None
    assert again.of(StartCall) == []
    assert again.outputs == first.outputs + second.outputs
    assert again.counted("dead_letters") == 1


class Told(Event):
    """Sent before the failure."""


def test_an_input_that_fails_later_begins_anew_with_all_its_events() -> None:
    """The action that fails is started once more, so that the input is dead-lettered and not taken for done [E1.2, E1.8, E4.4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=str(ctx.uuid4())))
        ctx.send_event(Told())
        if ctx.timestamp != 1:
            ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(charge, 1)))

    @on(Told)
    def told(event: Told, ctx: RunnerContext) -> None:
        if ctx.timestamp == 1:
            raise ValueError

    def run(disk: Disk, *times: int) -> Host:
        host = Host(agent_of(act, told), disk, now_ms=5_000_000, on_action_error="dead-letter")
        host.start()
        for time in times:
            host.input("tick", timestamp=time)
            finish(host)
        return host

    first = run(Disk(), 1)
    second = run(after(first.snapshot()), 2)

    again = run(after(Disk(), first, second), 1, 2)

    assert again.failure is None
    assert again.outputs == first.outputs + second.outputs
    assert again.counted("dead_letters") == first.counted("dead_letters") == 1


def test_an_input_that_cannot_be_told_from_others_needs_no_journal_to_read_the_clock() -> None:
    """Not in the first life, and not when journals of other inputs wait [E4.4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=ctx.now().timestamp()))
        if event.input == 1:
            await ctx.durable_execute_async(charge, 1)

    first = Host(agent_of(act))
    first.input(1)
    finish(first)

    again = restored(act, after(Disk(), first))
    again.input(EncodingError)

    assert again.failure is None
    assert again.outputs == [5000.0]
    assert [effect.run_number for effect in again.of(WriteRunNumber)] == [2]
