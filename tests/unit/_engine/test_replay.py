"""Replay: claims, identity, mismatch, reset, patches."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Append, CallRaised, CallReturned, StartCall, WriteRunNumber
from flink_agents_subagent._engine.record import decode_record
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import EncodingError, ReplayMismatchError
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of


async def double(value: Any) -> Any:
    """A durable function."""
    return value * 2


async def other(value: Any) -> Any:
    """Another durable function."""
    return value


async def two_calls(event: InputEvent, ctx: RunnerContext) -> None:
    """Make two calls, one after the other."""
    first = await ctx.durable_execute_async(double, event.input)
    second = await ctx.durable_execute_async(double, first)
    ctx.send_event(
        OutputEvent(output=[event.input, second, str(ctx.uuid4()), ctx.random().random(), ctx.now().timestamp()])
    )


def recorded(action: Any, *inputs: Any, key: str = "k") -> Host:
    """Run inputs of one key to their end."""
    host = Host(agent_of(action))
    for value in inputs:
        host.input(value, key)
    host.run()
    return host


def replay(action: Any, log: list[Append], *inputs: Any, **settings: Any) -> Host:
    """Bring inputs back to a process that finds this log."""
    host = Host(agent_of(action), Disk(log=list(log)), now_ms=5_000_000, **settings)
    host.start()
    for value in inputs:
        host.input(value)
    return host


def test_inputs_that_come_back_in_another_order_find_their_own_journals() -> None:
    """No call is repeated, and ids are those of the first run [E4.4, E5.3]."""
    host = recorded(two_calls, 1, 2, 3)

    again = replay(two_calls, host.disk.log, 3, 1, 2)

    assert again.of(StartCall) == []
    assert sorted(again.outputs) == sorted(host.outputs)


def test_identical_inputs_claim_in_turn() -> None:
    """Each of them has a journal of its own, the oldest first [E4.4]."""
    host = recorded(two_calls, 1, 1)

    again = replay(two_calls, host.disk.log, 1, 1)

    assert again.outputs == host.outputs
    assert host.outputs[0][2] != host.outputs[1][2]


def test_journals_of_another_key_are_not_claimed() -> None:
    """The same input of another key makes its own call, with its own ids [E4.4, E5.3]."""
    host = recorded(two_calls, 1, key="another")

    again = replay(two_calls, host.disk.log, 1)

    assert len(again.of(StartCall)) == 1


def test_a_new_run_takes_no_number_of_a_journal_that_waits() -> None:
    """A journal that waits for its input keeps its number for itself [E5.2]."""
    host = recorded(two_calls, 1, 2)

    again = replay(two_calls, host.disk.log, 9)

    assert [effect.run_number for effect in again.of(WriteRunNumber)] == [3]


def test_a_journal_ends_at_the_first_gap_in_its_numbers() -> None:
    """What is behind a record that is not there was never acknowledged [S1.2]."""
    host = recorded(two_calls, 1)
    log = [host.disk.log[0]]

    again = replay(two_calls, [*log, host.disk.log[1]._replace(record_number=3)], 1)

    assert len(again.of(StartCall)) == 1


def test_a_record_that_is_there_twice_counts_once() -> None:
    """The store may deliver duplicates [S1.3]."""
    host = recorded(two_calls, 1)

    again = replay(two_calls, host.disk.log * 2, 1)

    assert again.outputs == host.outputs
    assert again.counted("unclaimed_journals") == 0


def test_an_unclaimed_journal_expires() -> None:
    """After the retention the input would call again; the journal is counted [E4.4]."""
    host = recorded(two_calls, 1)

    again = replay(two_calls, host.disk.log, unclaimed_retention_ms=60_000)
    assert again.counted("unclaimed_journals") == 1
    again.advance(59_999)
    assert again.counted("unclaimed_expired") == 0
    again.advance(1)
    again.input(1)

    assert again.counted("unclaimed_expired") == 1
    assert again.counted("unclaimed_journals") == 0
    assert len(again.of(StartCall)) == 1


def test_an_action_that_changes_its_input_still_finds_its_journal() -> None:
    """The fingerprint is that of the input as it arrived [E4.4]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        event.input["changed"] = ctx.timestamp
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(other, 1)))

    host = recorded(action, {"a": 1})

    assert replay(action, host.disk.log, {"a": 1}).of(StartCall) == []


def test_an_input_that_cannot_be_told_from_others_is_an_error_in_a_run_that_journals() -> None:
    """The error says what to map it to; a run without calls does not care [E4.4]."""
    host = recorded(two_calls, [Host])

    assert isinstance(host.failure, EncodingError)
    assert "input of a run with durable calls" in str(host.failure)


# Mismatch


async def changed_function(event: InputEvent, ctx: RunnerContext) -> None:
    """Call another function in slot 1."""
    first = await ctx.durable_execute_async(double, event.input)
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(other, first)))


async def changed_argument(event: InputEvent, ctx: RunnerContext) -> None:
    """Call with another argument in slot 1."""
    first = await ctx.durable_execute_async(double, event.input)
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(double, first + 1)))


async def fewer_calls(event: InputEvent, ctx: RunnerContext) -> None:
    """Stop after the first call."""
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(double, event.input)))


async def a_sleep_first(event: InputEvent, ctx: RunnerContext) -> None:
    """Sleep where there was a call."""
    await asyncio.sleep(1)


def no_calls(event: InputEvent, ctx: RunnerContext) -> None:
    """Do something else, with a claim but without calls."""
    ctx.uuid4()


@pytest.mark.parametrize(
    ("action", "texts"),
    [
        (changed_function, ["slot 1", "test_replay:double with arguments", "test_replay:other with arguments"]),
        (changed_argument, ["slot 1", "test_replay:double with arguments"]),
        (fewer_calls, ["slot 1", "has not reserved slot 1"]),
        (a_sleep_first, ["slot 0", "has not reserved slot 0"]),
        (no_calls, ["slot 0", "without making the call"]),
    ],
)
def test_code_that_does_not_do_what_is_recorded_fails_with_both_sides(action: Any, texts: list[str]) -> None:
    """Before anything is sent; the error says what to do [E3.7, E2.2]."""
    host = recorded(two_calls, 1)

    again = replay(action, host.disk.log, 1)

    assert isinstance(again.failure, ReplayMismatchError)
    for text in [*texts, "agent 'agent'", "ctx.patched", "replay.on-mismatch"]:
        assert text in str(again.failure)
    assert again.of(StartCall) == []
    assert again.counted("mismatches") == 1


def test_a_timer_that_the_code_does_not_set_is_a_mismatch() -> None:
    """A recorded firing needs its timer [E2.2]."""

    async def sleeps(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.sleep(1)
        await ctx.durable_execute_async(other, 1)

    async def does_not(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(other, 1)

    again = replay(does_not, recorded(sleeps, 1).disk.log, 1)

    assert isinstance(again.failure, ReplayMismatchError)
    assert "has not set timer 0" in str(again.failure)


@pytest.mark.logs_warning
def test_rerun_discards_the_rest_of_the_journal_and_calls_afresh() -> None:
    """The first call keeps its outcome; the replay of the new journal makes no call [E3.7]."""
    host = recorded(two_calls, 1)

    again = replay(changed_function, host.disk.log, 1, on_mismatch="rerun")
    assert [call.function.args for call in again.calls.values()] == [(2,)]  # type: ignore[attr-defined]
    again.run()
    third = replay(changed_function, again.disk.log, 1)

    assert again.outputs == third.outputs == [2]
    assert third.of(StartCall) == []
    kinds = [decode_record(append.record_number, append.payload, "").kind for append in again.disk.log]
    assert kinds == ["o", "o", "r", "o"]


@pytest.mark.logs_warning
def test_rerun_from_the_first_record_keeps_the_input_recognisable() -> None:
    """The reset carries what the first record said of the run [E3.7, E4.4]."""
    again = replay(a_sleep_first, recorded(two_calls, 1).disk.log, 1, on_mismatch="rerun")
    again.run()

    third = replay(a_sleep_first, again.disk.log, 1)

    assert again.finished == third.finished == [1]
    assert third.counted("unclaimed_journals") == 0


def test_a_record_of_a_call_that_was_cancelled_meanwhile_is_no_mismatch() -> None:
    """Two calls end at once; the first outcome ends the action, the second is dropped, on replay too [E3.11, E2.2]."""

    async def first_wins(event: InputEvent, ctx: RunnerContext) -> None:
        handles = [ctx.durable_execute_async(other, number) for number in range(2)]
        await asyncio.wait(handles, return_when=asyncio.FIRST_COMPLETED)
        ctx.send_event(OutputEvent(output=[handle.done() for handle in handles]))

    host = Host(agent_of(first_wins))
    host.input(1)
    host.engine.complete_call(2, CallReturned(1), host.now_ms)
    host.engine.complete_call(1, CallRaised(ValueError()), host.now_ms)
    host.perform()
    host.calls.clear()
    host.acknowledge()

    again = replay(first_wins, host.disk.log, 1)

    assert len(host.disk.log) == 2
    assert host.outputs == again.outputs == [[False, True]]
    assert again.finished == [1]


# Patches


def test_patched_lets_new_code_run_beside_old_journals() -> None:
    """A journal from before the change takes the old path, a new run the new one, each again on its replays [E3.8]."""

    async def new(event: InputEvent, ctx: RunnerContext) -> None:
        function = other if ctx.patched("no-doubling") else double
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(function, event.input)))

    old_host = recorded(fewer_calls, 1)
    old = replay(new, old_host.disk.log, 1)
    fresh = recorded(new, 1)
    again = replay(new, fresh.disk.log, 1)

    assert old.outputs == [2] and old.failure is None
    assert fresh.outputs == again.outputs == [1]
    assert again.of(StartCall) == []


def test_a_patch_point_that_was_passed_answers_the_same_again() -> None:
    """Within one run the answer does not change between two passes [E3.8]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        answers = [ctx.patched("change")]
        await ctx.durable_execute_async(double, event.input)
        answers.append(ctx.patched("change"))
        ctx.send_event(OutputEvent(output=answers))

    host = recorded(action, 1)
    old = replay(action, recorded(fewer_calls, 1).disk.log, 1)

    assert host.outputs == [[True, True]]
    assert replay(action, host.disk.log, 1).outputs == [[True, True]]
    assert old.outputs == [[False, False]]


# Identity


def test_ids_differ_between_inputs_keys_actions_and_jobs() -> None:
    """What derives from the execution digest is never shared [E5.2, E5.3]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        identity = ctx._subagent_identity("sub", None)
        ctx.send_event(OutputEvent(output=[str(ctx.uuid4()), str(ctx.uuid4()), identity.session_id, identity.call_id]))

    async def again(event: InputEvent, ctx: RunnerContext) -> None:
        await action(event, ctx)

    host = Host(agent_of(action, again))
    host.input(1, "a")
    host.input(1, "a")
    host.input(1, "b")
    another = Host(agent_of(action, again), job_identifier="another job")
    another.input(1, "a")

    ids = [text for output in [*host.outputs, *another.outputs] for text in output]
    assert len(ids) == len(set(ids)) == 32


def test_calls_in_one_session_are_numbered() -> None:
    """A generated session has its first call; a supplied one counts the calls of this execution [D1, D2, E5.3]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        first = ctx._subagent_identity("sub", None)
        second = ctx._subagent_identity("sub", None)
        third, fourth = (ctx._subagent_identity("sub", "mine") for _ in range(2))
        ctx.send_event(OutputEvent(output=[first, second, third, fourth]))

    host = Host(agent_of(action))
    host.input(1)
    first, second, third, fourth = host.outputs[0]

    assert first.session_id != second.session_id
    assert (first.session_id.rpartition("-")[2], second.session_id.rpartition("-")[2]) == ("0", "1")
    assert first.call_id == f"{first.session_id}-0"
    assert third.session_id == fourth.session_id == "mine"
    assert third.call_id != fourth.call_id


def test_a_run_that_only_asks_for_the_time_has_a_number_but_no_record() -> None:
    """Nothing is appended before something has to be [E4.6, E5.2]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.now()

    host = recorded(action, 1)

    assert host.of(Append) == []
    assert [effect.run_number for effect in host.of(WriteRunNumber)] == [1]
