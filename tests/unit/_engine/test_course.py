"""Calls with a course: run again, followed by another, taken back (decision 0007)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import CancelCall, Emit, StartCall
from flink_agents_subagent._engine.record import decode_record
from flink_agents_subagent.context import CallAgain, CallCourse, CallExpired, CallSpec, RetryPolicy, RunnerContext
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on
from tests.unit._engine.programs import kinds


def nothing() -> None:
    """Stand for a function: the tests say what it returns."""


def spec(name: str = "call", **fields: Any) -> CallSpec:
    """Describe a call as a sub-agent base class does."""
    return CallSpec(**{"func": nothing, "function_id": name, "fingerprint": b"f" * 16, "is_coroutine": True, **fields})


def with_undo(**fields: Any) -> CallSpec:
    """Describe a call that has an intent and can be taken back."""
    course = CallCourse(undo=lambda: spec("undo", course=CallCourse()), **fields)
    return spec(reconciler=nothing, course=course)


def opening(call: CallSpec) -> Any:
    """Return an action that opens a call and sends what comes of it."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await ctx._open_call(call)))

    return action


def cancelling(call: CallSpec, after_s: float = 1, ending: Callable[[], None] = nothing) -> Any:
    """Return an action that opens a call, cancels it later, makes another one, and ends."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx._open_call(call)
        if after_s:
            await asyncio.sleep(after_s)
        handle.cancel()
        ctx.send_event(OutputEvent(output=await ctx._open_call(spec("other"))))
        ending()

    return action


def names(host: Host) -> list[str]:
    """Return the calls that were started."""
    return [start.origin.function_id for start in host.of(StartCall) if start.origin is not None]


def slots(host: Host) -> list[tuple[str, str, int]]:
    """Return kind, function and slot of the records."""
    found = [decode_record(append.record_number, append.payload, "") for append in host.disk.log]
    return [(record.kind, record.function_id, record.slot) for record in found]


def restarted(host: Host, action: Any, **settings: Any) -> Host:
    """Return a life after a crash: only what is in the store is left, and the input comes back."""
    again = Host(agent_of(action), Disk(log=host.disk.log), now_ms=host.now_ms, **settings)
    again.start()
    again.input(1)
    return again


# Again


def test_a_call_that_runs_again_costs_a_deadline_and_nothing_else() -> None:
    """No record, no place in the pool while it waits; it goes on in time [M3, E2.3]."""
    host = Host(agent_of(opening(spec(course=CallCourse()))), max_concurrent_calls=1)
    for number in range(100):
        host.input(number, f"key {number}")
    for _ in range(100):
        host.returns(CallAgain(500))

    assert host.calls == {} and host.disk.log == []
    assert host.timer_ms == host.now_ms + 500
    assert len(host.engine._core.deadlines) == 100
    host.advance(500)
    for number in range(100):
        host.returns(number)
    host.acknowledge()
    assert host.outputs == list(range(100))


def test_a_call_that_ran_again_has_succeeded() -> None:
    """Its failures before that use up no retries: only those one after the other do [E3.9, M4]."""
    retry = RetryPolicy(max_attempts=2)
    host = Host(agent_of(opening(spec(course=CallCourse(), retry=retry))))
    host.input(1)
    for _ in range(3):
        host.raises(ValueError("now and then"))
        host.acknowledge()
        host.advance(1_000)
        host.returns(CallAgain(100))
        host.advance(100)
    host.returns("done")
    host.acknowledge()

    assert host.outputs == ["done"]
    assert kinds(host) == ["a", "a", "a", "o"]


def test_failures_one_after_the_other_are_counted_over_a_crash() -> None:
    """The record of the last one says how many they were [E3.9, G3]."""
    action = opening(spec(course=CallCourse(), retry=RetryPolicy(max_attempts=3)))
    host = Host(agent_of(action))
    host.input(1)
    for _ in range(2):
        host.raises(ValueError("down"))
        host.acknowledge()
        host.advance(2_000)
    again = restarted(host, action)
    again.advance(4_000)
    again.raises(ValueError("down"))
    again.acknowledge()

    assert kinds(again) == ["a", "a", "o"]
    assert again.failure is not None


def test_a_call_can_say_that_its_time_is_over() -> None:
    """That is recorded as a time-out, with what the caller gets, and replayed [M6, E3.4]."""
    action = opening(spec(course=CallCourse()))
    host = Host(agent_of(action))
    host.input(1)
    host.returns(CallExpired(["late"]))
    host.acknowledge()
    again = restarted(host, action)

    assert host.outputs == again.outputs == [["late"]]
    assert decode_record(1, host.disk.log[0].payload, "").status == "timeout"


def test_a_first_attempt_may_wait() -> None:
    """For as long as the course says, given the age of the call [M3]."""
    ages: list[int] = []

    def delay(age_ms: int) -> int:
        ages.append(age_ms)
        return 700

    following = spec("second", course=CallCourse(delay_ms=delay))
    host = Host(agent_of(opening(spec(course=CallCourse(then=lambda value, spent_ms: following)))))
    host.input(1)
    host.returns(1)
    host.now_ms += 250
    host.acknowledge()
    assert host.calls == {} and host.timer_ms == host.now_ms + 700
    host.advance(700)

    assert names(host) == ["call", "second"] and ages == [250]


# Then


def test_a_call_may_be_followed_by_another() -> None:
    """The handle gives what the last one comes to; each has a slot and a record of its own [D4, M]."""
    spent: list[int] = []

    def then(value: Any, spent_ms: int) -> CallSpec | None:
        spent.append(spent_ms)
        return None if value == "enough" else spec(f"after {value}")

    action = opening(spec(reconciler=nothing, course=CallCourse(then=then)))
    host = Host(agent_of(action))
    host.input(1)
    host.now_ms += 100
    host.acknowledge()
    host.now_ms += 400
    host.returns("one")
    host.acknowledge()
    host.returns("two")
    host.acknowledge()
    again = restarted(host, action)

    assert host.outputs == again.outputs == ["two"]
    assert names(host) == ["call", "after one"] and names(again) == []
    assert slots(host) == [("i", "call", 0), ("o", "call", 0), ("o", "after one", 1)]
    assert spent == [500, 500]


def test_a_call_that_nothing_follows_gives_its_own_value() -> None:
    """When `then` has nothing to add the handle is done [M4]."""
    host = Host(agent_of(opening(spec(course=CallCourse(then=lambda value, spent_ms: None)))))
    host.input(1)
    host.returns("enough")
    host.acknowledge()

    assert host.outputs == ["enough"]


def test_a_failed_call_is_not_followed() -> None:
    """Its exception is that of the handle [M5]."""
    host = Host(agent_of(opening(spec(course=CallCourse(then=lambda value, spent_ms: spec("after"))))))
    host.input(1)
    host.raises(ValueError("no"))
    host.acknowledge()

    assert isinstance(host.failure.__cause__ if host.failure else None, ValueError)
    assert names(host) == ["call"]


# Undo


def test_nothing_is_taken_back_that_was_never_sent() -> None:
    """Cancelled before its intent was written it leaves no trace but its slots, which are the same on replay [I6]."""
    action = cancelling(with_undo(), after_s=0)
    host = Host(agent_of(action))
    host.input(1)
    host.returns("other")
    host.acknowledge()
    again = restarted(host, action)

    assert names(host) == ["other"] and host.outputs == again.outputs == ["other"]
    assert slots(host) == [("o", "other", 2)]
    assert host.finished == [1]


def test_an_intent_without_a_start_is_settled_without_a_request() -> None:
    """A later life, which finds the intent, learns from the record that there is nothing to take back [I6, E3.6]."""
    action = cancelling(with_undo(), after_s=0.001)
    host = Host(agent_of(action))
    host.input(1)
    host.advance(1)
    host.acknowledge()
    # Intent and timer came back together: the code cancelled before the call could start.
    host.returns("other")
    host.acknowledge()
    again = restarted(host, action)

    assert names(host) == ["other"] and names(again) == []
    assert ("o", "undo", 1) in slots(host)
    assert again.finished == [1] and again.outputs == ["other"]


def test_a_later_life_takes_back_what_an_intent_may_have_sent() -> None:
    """It cannot know that nothing was sent: asking once too often is right [M7, E3.6]."""
    action = cancelling(with_undo(), after_s=1)
    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()
    host.advance(1_000)
    host.acknowledge(1)
    # The process dies before anything else is durable: intent and timer are.
    del host.disk.log[2:]
    again = restarted(host, action)

    assert sorted(names(again)) == ["other", "undo"]


def test_a_running_call_ends_before_it_is_taken_back() -> None:
    """It is not stopped; what it brings is not recorded; then the undoing begins, and the run waits for it [I6, M7]."""
    host = Host(agent_of(cancelling(with_undo())))
    host.input(1)
    host.acknowledge()
    host.advance(1_000)
    host.acknowledge()
    assert names(host) == ["call", "other"] and host.of(CancelCall) == []
    host.returns("late", call=1)
    assert names(host) == ["call", "other", "undo"]
    host.returns("other", call=2)
    host.acknowledge()
    assert host.outputs == ["other"] and host.finished == []
    host.returns(None, call=3)
    host.acknowledge()

    assert host.finished == [1]
    assert slots(host)[-1] == ("o", "undo", 1)


def test_the_undoing_is_repeated_by_the_next_life() -> None:
    """Until it has an outcome, also from a checkpoint that was taken after the code had ended [M7, E4.5]."""
    action = cancelling(with_undo())
    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()
    host.advance(1_000)
    host.acknowledge()
    host.returns("late", call=1)
    host.returns("other", call=2)
    host.acknowledge()
    assert host.outputs == ["other"]
    again = Host(agent_of(action), host.snapshot(), now_ms=host.now_ms)
    assert again.start() == 1

    assert names(again) == ["undo"] and again.outputs == []
    again.returns()
    again.acknowledge()
    assert again.finished == [0]


def test_a_call_that_follows_is_taken_back_with_all_before_it() -> None:
    """It has been sent for sure [M7]."""
    following = spec("second", course=CallCourse(undo=lambda: spec("undo", course=CallCourse())))
    host = Host(agent_of(cancelling(spec(reconciler=nothing, course=CallCourse(then=lambda *_: following)))))
    host.input(1)
    host.acknowledge()
    host.returns("sent")
    host.acknowledge()
    host.returns(CallAgain(10_000))
    host.advance(1_000)
    host.acknowledge()

    assert names(host) == ["call", "second", "undo", "other"]


def test_a_time_out_takes_the_call_back() -> None:
    """Once its record is delivered; the handle is done without waiting for that [M6, M7]."""
    call = with_undo()._replace(timeout_ms=5_000, on_timeout=lambda: "late")
    host = Host(agent_of(opening(call)))
    host.input(1)
    host.acknowledge()
    host.advance(5_000)
    assert names(host) == ["call"]
    host.acknowledge()

    assert host.outputs == ["late"] and names(host) == ["call", "undo"]
    assert host.finished == []
    host.returns()
    host.acknowledge()
    assert host.finished == [1]


def test_a_recorded_outcome_that_nobody_waited_for_is_taken_back() -> None:
    """It was sent, as the record says, and was cancelled before that was delivered [I6, M7]."""
    action = cancelling(with_undo(), after_s=1)
    host = Host(agent_of(action))
    host.input(1)
    host.acknowledge()
    host.advance(1_000)
    host.returns("sent")
    # The timer's record comes first: the code cancels, then the outcome arrives.
    host.acknowledge()
    again = restarted(host, action)

    assert names(host) == ["call", "undo", "other"]
    assert sorted(names(again)) == ["other", "undo"]


def test_a_dead_letter_waits_for_what_is_taken_back() -> None:
    """So that no checkpoint lies between the two, and the letter leaves once [I7, E1.8, E1.9]."""

    def fail() -> None:
        raise ValueError("final")

    action = cancelling(with_undo(), ending=fail)
    host = Host(agent_of(action), on_action_error="dead-letter")
    host.input(1)
    host.input(2)
    host.acknowledge()
    host.advance(1_000)
    host.acknowledge()
    host.returns("late", call=1)
    host.returns("other", call=2)
    host.acknowledge()
    assert not any(emit.is_dead_letter for emit in host.of(Emit)) and host.finished == []
    again = Host(agent_of(action), host.snapshot(), now_ms=host.now_ms, on_action_error="dead-letter")
    again.start()
    again.returns()
    again.acknowledge()

    assert [emit.payload["error_message"] for emit in again.of(Emit) if emit.is_dead_letter] == ["final"]
    assert again.finished == [0]
    # The next input of the key has its turn now.
    assert names(again) == ["undo"] and len(again.unacknowledged) == 1


def test_an_undoing_that_is_open_is_not_taken_back_itself() -> None:
    """The end of the action ends what is left open, and leaves what takes calls back alone [M7]."""
    host = Host(agent_of(cancelling(with_undo(), after_s=1)))
    host.input(1)
    host.acknowledge()
    host.advance(1_000)
    host.acknowledge()
    host.returns("late", call=1)
    host.returns("other", call=2)
    host.acknowledge()

    assert host.of(CancelCall) == []
    assert names(host) == ["call", "other", "undo"]


def test_closing_the_engine_takes_nothing_back() -> None:
    """A task that stops leaves what it started to its next life [I7]."""
    host = Host(agent_of(opening(with_undo())))
    host.input(1)
    host.acknowledge()
    host.engine.close()
    host.perform()

    assert names(host) == ["call"]


def test_a_reconciler_that_raises_is_an_attempt_when_the_course_says_so() -> None:
    """It is asked again, after a failed attempt of the function too, until the retries are used up [M, E3.9]."""
    call = spec(reconciler=nothing, retry=RetryPolicy(max_attempts=4), course=CallCourse(reconciles_attempts=True))
    host = Host(agent_of(opening(call)))
    host.input(1)
    host.acknowledge()
    for _ in range(3):
        host.raises(ConnectionError("down"))
        host.acknowledge()
        host.advance(60_000)
    host.returns("attached")
    host.acknowledge()

    assert host.outputs == ["attached"]
    assert [start.origin.is_reconciler for start in host.of(StartCall) if start.origin] == [False, True, True, True]


@pytest.mark.parametrize("mode", ["dead-letter"])
def test_no_code_of_a_run_runs_after_its_failure(mode: str) -> None:
    """An action that was to run in the same step does not, when a condition has failed [E1.8]."""
    ran: list[str] = []

    class Told(Event):
        pass

    def fails(event: Any) -> bool:
        raise ValueError("condition")

    def tells(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Told())

    def follows(event: InputEvent, ctx: RunnerContext) -> None:
        ran.append("follows")

    @on(Told, fails)
    def never(event: Told, ctx: RunnerContext) -> None:
        ran.append("never")

    host = Host(agent_of(tells, follows, never), on_action_error=mode)
    host.input(1)

    assert ran == [] and host.finished == [1]


def test_a_failure_is_repeated_from_a_checkpoint_that_saw_it() -> None:
    """The action that failed fails again, although nothing of its own was to be taken back; the others are torn down again [I7, E4.5]."""

    async def asks(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="asks"))
        await ctx._open_call(with_undo())

    async def fails(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="fails"))
        await asyncio.sleep(1)
        raise ValueError("final")

    def ends(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="ends"))

    agent = agent_of(asks, fails, ends)
    host = Host(agent, on_action_error="dead-letter")
    host.input(1)
    host.acknowledge()
    host.advance(1_000)
    host.acknowledge()
    host.returns("late", call=1)
    assert names(host) == ["call", "undo"] and host.outputs == ["asks", "fails", "ends"]
    again = Host(agent, host.snapshot(), now_ms=host.now_ms, on_action_error="dead-letter")
    again.start()
    assert names(again) == ["undo"]
    again.returns()
    again.acknowledge()

    assert [emit.payload["error_message"] for emit in again.of(Emit)] == ["final"]
    assert again.finished == [0]
