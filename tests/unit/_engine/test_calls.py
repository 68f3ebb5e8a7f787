"""Durable calls: intents, outcomes, and what sub-agents build on them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Append, StartCall
from flink_agents_subagent.context import CallSpec, RunnerContext
from flink_agents_subagent.errors import (
    DurableCallError,
    EncodingError,
    RecordTooLargeError,
    UnawaitedHandleError,
)
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of
from tests.unit._engine.programs import blocking, calling, coroutine, kinds

# Intent


def test_the_intent_is_durable_before_the_call_starts() -> None:
    """With a reconciler nothing is sent until the store has the intent [E3.6]."""
    host = Host(agent_of(calling(reconciler=blocking)))
    host.input(1)

    assert kinds(host) == ["i"]
    assert host.calls == {}
    host.acknowledge()
    assert len(host.calls) == 1


def test_without_a_reconciler_there_is_no_intent() -> None:
    """The call starts at once, and its outcome is the only record [E3.6]."""
    host = Host(agent_of(calling()))
    host.input(1)
    host.run()

    assert kinds(host) == ["o"]
    assert host.outputs == [1]


def test_a_call_cancelled_before_its_intent_is_durable_is_never_sent() -> None:
    """The acknowledgement finds the call cancelled [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.durable_execute_async(coroutine, reconciler=blocking)
        await asyncio.sleep(1)
        handle.cancel()

    host = Host(agent_of(action))
    host.input(1)
    host.advance(1_000)
    # The intent was appended first, but is acknowledged only together with the timer.
    assert kinds(host) == ["i", "t"]
    host.acknowledge()

    assert host.of(StartCall) == []
    assert host.finished == [1]


@pytest.mark.parametrize("is_async", [True, False])
def test_a_replayed_intent_without_outcome_asks_the_reconciler(is_async: bool) -> None:
    """Its value becomes the outcome; the function itself is not called again [E3.6]."""

    async def found() -> str:
        return "found"

    reconciler = found if is_async else lambda: "found"
    action = calling(reconciler=reconciler)
    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()

    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)
    (started,) = again.of(StartCall)
    again.run()

    assert started.origin is not None and started.origin.is_reconciler
    assert started.is_coroutine is is_async
    assert again.outputs == ["found"]
    assert kinds(again) == ["i", "o"]
    assert again.counted("calls_reconciled") == 1


def test_the_reconcilers_exception_becomes_the_outcome() -> None:
    """It is recorded, and raised at the await on every replay [E3.6]."""

    def lost() -> None:
        raise LookupError("never heard of it")

    action = calling(reconciler=lost)
    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()
    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)
    again.run()
    third = Host(agent_of(action), Disk(log=again.disk.log))
    third.start()
    third.input(1)

    assert repr(again.outputs) == repr(third.outputs) == "[LookupError('never heard of it')]"
    assert third.of(StartCall) == []


def test_an_intent_of_a_call_that_the_code_cancels_asks_nobody() -> None:
    """What replay holds back is not started when the code cancels the call later in its life [E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.durable_execute_async(coroutine, reconciler=blocking)
        await ctx.durable_execute_async(coroutine, "other")
        handle.cancel()
        await asyncio.sleep(10)

    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()
    host.run_call(1)
    host.acknowledge()

    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)

    assert again.of(StartCall) == []


# Values and exceptions


class Odd(Exception):  # noqa: N818 - any name will do
    """An exception whose constructor does not take its message."""

    def __init__(self, code: int, *, hidden: object) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.hidden = hidden


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("bad", 3), ValueError),
        (StopIteration(5), DurableCallError),
        (asyncio.CancelledError(), DurableCallError),
        (SystemExit(1), DurableCallError),
        (Odd(3, hidden=object()), DurableCallError),
    ],
)
def test_an_exception_is_the_same_live_and_on_replay(error: BaseException, expected: type[BaseException]) -> None:
    """One that cannot be rebuilt, or would mean something else at an await, is a DurableCallError in the first run too [E3.5]."""
    action = calling()
    host = Host(agent_of(action))
    host.input(1)
    host.raises(error)
    host.acknowledge()
    again = Host(agent_of(action), Disk(log=host.disk.log))
    again.start()
    again.input(1)

    assert type(host.outputs[0]) is type(again.outputs[0]) is expected
    assert host.outputs[0].args == again.outputs[0].args


def test_the_traceback_of_a_failed_call_reaches_the_action() -> None:
    """What the author sees in the log leads to the line in the function [E1.8]."""

    def fails(_: object) -> None:
        raise ValueError("here")

    host = Host(agent_of(calling(fails)))
    host.input(1)
    host.run()

    names = []
    traceback = host.outputs[0].__traceback__
    while traceback is not None:
        names.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert "fails" in names


def test_a_result_that_cannot_be_rebuilt_stops_the_engine_before_anything_is_recorded() -> None:
    """The error names the call, the type and the option [E3.5, E3.7]."""
    host = Host(agent_of(calling()))
    host.input(1)
    host.returns(object())

    assert isinstance(host.failure, EncodingError)
    assert "coroutine (slot 0 of action 'action')" in str(host.failure)
    assert "builtins:object" in str(host.failure) and "journal.pickle" in str(host.failure)
    assert host.of(Append) == []


def test_pickle_takes_any_result_when_it_is_allowed() -> None:
    """The option exchanges the limit for a risk [E3.5]."""
    action = calling()
    host = Host(agent_of(action), journal_pickle="allow")
    host.input(1)
    host.returns(Odd)
    host.acknowledge()

    assert host.outputs == [Odd]


def test_a_record_that_is_too_large_stops_the_engine_before_the_store_sees_it() -> None:
    """The error names call, size and option [E3.13]."""
    host = Host(agent_of(calling()), max_record_bytes=1024)
    host.input(1)
    host.returns("x" * 2000)

    assert isinstance(host.failure, RecordTooLargeError)
    assert "coroutine (slot 0" in str(host.failure) and "journal.max-record-bytes = 1024" in str(host.failure)
    assert host.of(Append) == []


def test_a_call_that_completes_while_its_action_waits_for_another_is_recorded_at_once() -> None:
    """A crash in the meantime does not repeat it [E3.15]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        second = ctx.durable_execute_async(coroutine, "second")
        await ctx.durable_execute_async(coroutine, "first")
        ctx.send_event(OutputEvent(output=await second))

    host = Host(agent_of(action))
    host.input(1)
    host.run_call(1)

    assert kinds(host) == ["o"]


# What sub-agents build on


def spec(**fields: Any) -> CallSpec:
    """Describe a call as a sub-agent base class does."""
    values = {"func": blocking, "function_id": "sub", "fingerprint": b"f" * 16, "is_coroutine": False, **fields}
    return CallSpec(**values)


def opening(call: CallSpec, *, is_awaited: bool = True) -> Any:
    """Return an action that opens a call."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx._open_call(call)
        await asyncio.sleep(1)
        if is_awaited:
            ctx.send_event(OutputEvent(output=await asyncio.gather(handle)))

    return action


def test_a_deferred_call_starts_at_the_first_await() -> None:
    """A group that holds it counts as an await [E3.1]."""
    host = Host(agent_of(opening(spec(starts_at_await=True))))
    host.input(1)
    assert host.calls == {}
    host.advance(1_000)
    host.acknowledge()
    assert len(host.calls) == 1
    host.returns(7)
    host.acknowledge()

    assert host.outputs == [[7]]


def test_a_handle_that_must_be_awaited_and_is_not_stops_the_engine() -> None:
    """Before the execution counts as finished, naming the place [E2.2]."""
    host = Host(agent_of(opening(spec(must_be_awaited="sub-agent 'x', line 7"), is_awaited=False)))
    host.input(1)
    host.advance(1_000)
    host.acknowledge()

    assert isinstance(host.failure, UnawaitedHandleError)
    assert "sub-agent 'x', line 7" in str(host.failure)
    assert host.finished == []


def test_failures_and_time_outs_can_be_turned_into_values() -> None:
    """They are recorded as values, so that a replay needs no conversion [E3.4]."""

    def refuse(_: BaseException) -> Any:
        raise AssertionError("a replay must not convert again")

    for finish, expected in (("raises", ["error bad"]), ("time-out", ["late"])):
        call = spec(on_error=lambda error: f"error {error}", on_timeout=lambda: "late", timeout_ms=5_000)
        host = Host(agent_of(opening(call)))
        host.input(1)
        if finish == "raises":
            host.raises(ValueError("bad"))
        host.run_to_rest()
        again = Host(agent_of(opening(spec(on_error=refuse, timeout_ms=5_000))), Disk(log=host.disk.log))
        again.start()
        again.input(1)

        assert host.outputs == again.outputs == [expected]


def test_what_a_conversion_lets_through_is_the_outcome() -> None:
    """A sub-agent may decide that an exception is not its own [E3.4]."""

    def let_through(error: BaseException) -> Any:
        raise error

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            await ctx._open_call(spec(on_error=let_through))
        except KeyError as error:
            ctx.send_event(OutputEvent(output=str(error)))

    host = Host(agent_of(action))
    host.input(1)
    host.raises(KeyError("through"))
    host.acknowledge()

    assert host.outputs == ["'through'"]
