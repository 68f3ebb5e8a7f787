"""Checkpoint entries: what a snapshot keeps of a key, and what a restore makes of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent._engine.checkpoint import decode_key_entry
from flink_agents_subagent._engine.effects import StartCall
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec, key_bytes
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import (
    BridgeError,
    EncodingError,
    ReplayMismatchError,
    StoreCorruptError,
    UnknownVersionError,
)
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on


class Found(Event):
    """An event between actions."""

    items: list[Any]


async def call(value: Any) -> Any:
    """A durable function."""
    return value


ran: list[str] = []


def collect(event: InputEvent, ctx: RunnerContext) -> None:
    """Remember, send and emit; then end."""
    ran.append("collect")
    ctx.short_term_memory.set("seen", [event.input])
    ctx.sensory_memory.set("step", 1)
    ctx.send_event(OutputEvent(output="collected"))
    ctx.send_event(Found(items=[event.input, b"\x00"]))


@on(Found)
async def examine(event: Found, ctx: RunnerContext) -> None:
    """Wait for three calls, emitting before each."""
    ran.append("examine")
    for number in range(3):
        ctx.send_event(OutputEvent(output=f"before {number}"))
        await ctx.durable_execute_async(call, number)
    ctx.send_event(OutputEvent(output=[event.items, ctx.short_term_memory.get("seen"), ctx.sensory_memory.get("step")]))


def parked(*calls_done: int) -> Host:
    """Return a host whose run waits after so many calls."""
    ran.clear()
    host = Host(agent_of(collect, examine))
    host.input("x")
    for _ in calls_done:
        host.run_call()
        host.acknowledge()
    return host


def restored(disk: Disk, agent: Any = None, **settings: Any) -> Host:
    """Start another process from what a disk holds."""
    host = Host(agent or agent_of(collect, examine), disk, now_ms=2_000_000, **settings)
    host.start()
    return host


def entry_of(host: Host) -> Any:
    """Return the decoded entry of the only key."""
    (entry,) = host.disk.entries.values()
    return decode_key_entry(ValueCodec(TypeRegistry({}), allow_pickle=False), entry)


def test_a_finished_execution_is_not_executed_again() -> None:
    """Its events, outputs and memory writes come from its log; the waiting one goes on [E4.1, E4.5, E1.9]."""
    disk = parked(1, 2).snapshot()
    ran.clear()

    host = restored(disk)
    host.run()

    assert ran == ["examine"]
    assert len(host.of(StartCall)) == 1
    assert host.outputs == [[["x", b"\x00"], ["x"], 1]]
    assert host.finished == [0]
    assert host.disk.memory[key_bytes("k"), "seen"] is not None


def test_a_restore_needs_no_record_from_before_the_barrier() -> None:
    """The entry holds the records; the store's tail is empty [E4.2]."""
    disk = parked(1, 2).snapshot()

    assert disk.log == []
    assert restored(disk).calls.keys() == {1}


def test_records_that_are_not_acknowledged_are_part_of_the_entry() -> None:
    """A call that has returned before the barrier is not looked up in the store, acknowledged or not [E4.2]."""
    host = parked(1)
    host.run_call()
    disk = host.snapshot()

    again = restored(disk)
    again.acknowledge()

    (started,) = again.of(StartCall)
    assert started.function.args == (2,)  # type: ignore[attr-defined]


def test_the_tail_behind_the_barrier_continues_the_entry() -> None:
    """Records appended after the checkpoint are replayed too, and what they led to is done again [E4.4, E4.5]."""
    host = parked(1)
    disk = host.snapshot()
    before = len(host.disk.log)
    host.run()
    disk.log = host.disk.log[before:]

    again = restored(disk)

    assert again.of(StartCall) == []
    assert again.outputs == ["before 2", host.outputs[-1]]
    assert again.finished == [0]


def test_a_snapshot_gives_only_what_changed() -> None:
    """A parked run that nothing happens to is encoded once; an ended one is cleared [E4.1, PF10]."""
    host = parked(1)
    host.input("y", "another")

    first = dict(host.engine.snapshot(host.now_ms))
    second = dict(host.engine.snapshot(host.now_ms))
    host.run_call()
    third = dict(host.engine.snapshot(host.now_ms))
    host.run()
    fourth = dict(host.engine.snapshot(host.now_ms))

    assert first.keys() == {key_bytes("k"), key_bytes("another")}
    assert second == {}
    assert third.keys() == {key_bytes("k")}
    assert fourth == {key_bytes("k"): None, key_bytes("another"): None}
    assert dict(host.engine.snapshot(host.now_ms)) == {}


def test_queued_inputs_are_kept_in_order_with_their_timestamps() -> None:
    """They run after the restored run, one after the other [E1.1, E4.1]."""

    async def stamped(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, 1)
        ctx.send_event(OutputEvent(output=[event.input, ctx.timestamp]))

    host = Host(agent_of(stamped))
    for value, timestamp in (("a", 10), ("b", None), ("c", 30)):
        host.input(value, timestamp=timestamp)

    again = Host(agent_of(stamped), host.snapshot())
    inputs = again.start()
    again.input("d", timestamp=40)
    again.run()

    assert inputs == 3
    assert again.outputs == [["a", 10], ["b", None], ["c", 30], ["d", 40]]
    assert again.finished == [0, 0, 0, 1]


def test_an_input_that_is_queued_after_a_checkpoint_is_in_the_next() -> None:
    """The entry changes although nothing happens to the run [E4.1]."""
    host = parked(1)
    host.snapshot()
    host.input("y")

    entries = dict(host.engine.snapshot(host.now_ms))

    assert entries.keys() == {key_bytes("k")}


def test_values_of_calls_that_only_finished_executions_got_are_not_kept() -> None:
    """The entry of a long run stays as small as what it still needs [E4.1]."""

    async def big(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "x" * 10_000)

    async def waits(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.sleep(60)
        ctx.send_event(OutputEvent(output=ctx.now().timestamp()))

    host = Host(agent_of(big, waits))
    host.input("x")
    host.run_call()
    host.acknowledge()
    disk = host.snapshot()
    again = Host(agent_of(big, waits), disk)
    again.start()
    again.run()

    assert len(disk.entries[key_bytes("k")]) < 2_000
    assert again.of(StartCall) == []
    assert again.outputs == [1060.0]


def test_a_pinned_read_survives_the_restore() -> None:
    """What expires in keyed state while the run waits does not change its replay [E6.2]."""

    async def reads(event: InputEvent, ctx: RunnerContext) -> None:
        before = ctx.short_term_memory.get("value")
        await ctx.durable_execute_async(call, 1)
        ctx.send_event(OutputEvent(output=[before, ctx.short_term_memory.get("value")]))

    def writes(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.short_term_memory.set("value", 7)

    writer = Host(agent_of(writes))
    writer.input("w")
    host = Host(agent_of(reads), writer.disk)
    host.input("x")
    disk = host.snapshot()
    disk.memory.clear()

    again = Host(agent_of(reads), disk)
    again.start()
    again.run()

    assert again.outputs == [[7, 7]]


def test_an_unclaimed_journal_is_part_of_every_checkpoint() -> None:
    """It is still there after a second failure, and its retention begins anew [E4.4]."""
    first = restored(Disk(log=parked(1, 2).disk.log), unclaimed_retention_ms=100_000)
    first.advance(99_999)
    second = restored(first.snapshot(), unclaimed_retention_ms=100_000)
    second.advance(99_999)
    third_disk = second.snapshot()
    second.input("x")
    third = restored(third_disk, unclaimed_retention_ms=100_000)
    third.advance(100_000)

    assert len(second.of(StartCall)) == 1
    assert third.counted("unclaimed_expired") == 1
    assert dict(third.engine.snapshot(third.now_ms)) == {key_bytes("k"): None}


def test_a_claimed_journal_moves_into_the_entry_of_its_run() -> None:
    """The next checkpoint has the run instead of the unclaimed journal [E4.4]."""
    host = restored(Disk(log=parked(1, 2).disk.log))
    host.snapshot()
    host.input("x")
    host.snapshot()

    entry = entry_of(host)

    assert len(entry.run.records) == 2
    assert list(entry.unclaimed) == []


def test_an_unclaimed_journal_is_continued_by_a_later_tail() -> None:
    """The input claimed it and appended more before the second failure [E4.4]."""
    first = restored(Disk(log=parked(1).disk.log))
    disk = first.snapshot()
    before = len(first.disk.log)
    first.input("x")
    first.run_call()
    first.acknowledge()
    disk.log = first.disk.log[before:]

    again = restored(disk)
    again.input("x")

    (started,) = again.of(StartCall)
    assert started.function.args == (2,)  # type: ignore[attr-defined]


def test_patch_markers_that_no_record_carries_yet_are_kept() -> None:
    """The restored run goes the same way [E3.8]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, 1)
        is_new = ctx.patched("change")
        await ctx.durable_execute_async(call, 2)
        ctx.send_event(OutputEvent(output=is_new))

    host = Host(agent_of(action))
    host.input("x")
    host.run_call()
    host.acknowledge()
    disk = host.snapshot()
    before = len(host.disk.log)
    host.run_call()
    disk.log = host.disk.log[before:]

    again = Host(agent_of(action), disk)
    again.start()

    assert again.outputs == [True]


# Code that changed


def renamed_collect(event: InputEvent, ctx: RunnerContext) -> None:
    """Stand where `collect` stood."""
    ctx.send_event(Found(items=[event.input, b"\x00"]))


def test_an_execution_of_another_action_is_a_mismatch() -> None:
    """The checkpoint's table of executions names both sides [E3.7, E4.8]."""
    disk = parked(1).snapshot()

    host = restored(disk, agent_of(renamed_collect, examine))

    assert isinstance(host.failure, ReplayMismatchError)
    assert "'collect'" in str(host.failure) and "'renamed_collect'" in str(host.failure)


def test_an_execution_that_the_code_does_not_start_is_a_mismatch() -> None:
    """Found when everything recorded is replayed [E3.7]."""

    async def examines_nothing(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, 1)

    async def collects(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, 0)

    host = Host(agent_of(collects, examines_nothing))
    host.input("x")
    again = restored(host.snapshot(), agent_of(collects))

    assert isinstance(again.failure, ReplayMismatchError)
    assert "'examines_nothing'" in str(again.failure)


@pytest.mark.logs_warning
def test_rerun_executes_afresh_what_the_table_does_not_know() -> None:
    """The new action runs although the old one had ended, and the rest starts again [E3.7]."""
    disk = parked(1).snapshot()

    host = restored(disk, agent_of(renamed_collect, examine), on_mismatch="rerun")
    host.run()

    assert host.failure is None
    assert host.outputs[-1] == [["x", b"\x00"], None, None]
    assert len(host.of(StartCall)) == 3


@pytest.mark.logs_warning
def test_a_finished_execution_keeps_what_it_did_when_the_rest_is_run_again() -> None:
    """After a reset its later steps are applied as well: they are facts [E3.7, E4.5]."""

    async def finishes(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(call, "first action")
        ctx.sensory_memory.set("done", True)

    def waiting(argument: str) -> Any:
        async def waits(event: InputEvent, ctx: RunnerContext) -> None:
            await ctx.durable_execute_async(call, argument)
            is_done = ctx.sensory_memory.get("done")
            await ctx.durable_execute_async(call, "second")
            ctx.send_event(OutputEvent(output=is_done))

        return waits

    host = Host(agent_of(waiting("old"), finishes))
    host.input("x")
    host.run_call(1)
    host.run_call(2)
    host.acknowledge()

    again = restored(host.snapshot(), agent_of(waiting("new"), finishes), on_mismatch="rerun")
    again.run()

    assert [start.origin.slot for start in again.of(StartCall) if start.origin] == [0, 1]
    assert again.outputs == [True]


def test_a_second_checkpoint_of_a_restored_run_is_as_good_as_the_first() -> None:
    """Logs of finished executions and counts of outputs go on [E1.9, E4.1]."""
    host = restored(parked(1).snapshot())
    host.run_call()
    host.acknowledge()
    again = restored(host.snapshot())
    again.run()

    assert host.outputs == ["before 2"]
    assert again.outputs == [[["x", b"\x00"], ["x"], 1]]


# Faults


def test_an_event_that_cannot_be_kept_is_named() -> None:
    """Only a checkpoint while its run goes on needs its bytes [E1.3]."""

    def sends(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Found(items=[object()]))

    host = Host(agent_of(sends, examine))
    host.input("x")

    with pytest.raises(EncodingError, match=r"event of type Found.*checkpoint"):
        host.snapshot()


@pytest.mark.parametrize("entry", [b"", b"\x01", b"\x01\x00\x00\x00\x02{}", b"\x01\x00\x00\x00\x02[]"])
def test_a_damaged_entry_is_refused(entry: bytes) -> None:
    """It is not taken for an empty one [S1.4]."""
    with pytest.raises(StoreCorruptError, match="checkpoint entry"):
        Host(agent_of(collect)).engine.restore_entry(b"sk", entry)


def test_an_entry_of_a_later_release_is_refused_with_its_version() -> None:
    """A reader never guesses at a format [E4.8]."""
    with pytest.raises(UnknownVersionError, match="format version 9"):
        Host(agent_of(collect)).engine.restore_entry(b"sk", b"\x09")


def test_restoring_after_the_start_is_refused() -> None:
    """The two phases do not mix [E4.3]."""
    host = Host(agent_of(collect))
    host.start()

    with pytest.raises(BridgeError, match="started already"):
        host.engine.restore_record(b"sk", 1, 1, b"")


def test_no_snapshot_is_taken_of_an_engine_that_has_failed() -> None:
    """A checkpoint of a half-done command must not complete [E3.7]."""
    host = parked(1)
    host.returns(object())

    with pytest.raises(EncodingError):
        host.snapshot()
