"""Failures: of actions, of the engine, of the author's clean-up."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import (
    Append,
    CallReturned,
    CancelCall,
    Emit,
    FailTask,
    StartCall,
    WriteMemory,
)
from flink_agents_subagent._engine.encoding import key_bytes
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import (
    ActionError,
    BridgeError,
    ContextMisuseError,
    EncodingError,
    ReplayMismatchError,
)
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on
from tests.unit._engine.programs import coroutine


def divides(event: InputEvent, ctx: RunnerContext) -> None:
    """Fail on zero."""
    ctx.short_term_memory.set("seen", event.input)
    ctx.send_event(OutputEvent(output=1 / event.input))


async def divides_later(event: InputEvent, ctx: RunnerContext) -> None:
    """Fail on zero, after a call."""
    ctx.short_term_memory.set("seen", event.input)
    other = ctx.durable_execute_async(coroutine, "other")
    await ctx.durable_execute_async(coroutine, "first")
    ctx.send_event(OutputEvent(output=1 / event.input))
    await other


# Actions


@pytest.mark.parametrize("action", [divides, divides_later])
def test_an_exception_that_escapes_an_action_fails_the_job(action: Any) -> None:
    """The error names agent, action, key and run; its cause is the exception with its traceback [E1.8]."""
    host = Host(agent_of(action), log_keys=True)
    host.input(0, "customer-7")
    host.run()

    assert isinstance(host.failure, ActionError)
    for text in ("agent 'agent'", f"action {action.__name__!r}", "'customer-7'", "run ", "division by zero"):
        assert text in str(host.failure)
    cause = host.failure.__cause__
    assert isinstance(cause, ZeroDivisionError) and cause.__traceback__ is not None
    assert len(host.of(FailTask)) == 1
    assert host.finished == []


def test_a_key_is_hashed_in_messages_unless_the_option_is_set() -> None:
    """Keys may be personal data [E1.8]."""
    host = Host(agent_of(divides))
    host.input(0, "customer-7")

    assert "customer-7" not in str(host.failure)


def test_a_failed_run_leaves_no_writes() -> None:
    """Neither in the fail nor in the dead-letter mode [E6.3]."""
    for mode in ("fail", "dead-letter"):
        host = Host(agent_of(divides), on_action_error=mode)
        host.input(0)

        assert host.of(WriteMemory) == []
        assert host.disk.memory == {}


def test_a_dead_letter_carries_input_and_error_and_the_key_goes_on() -> None:
    """The next input of the key runs as if the failed one had never been [E1.8]."""
    host = Host(agent_of(divides), on_action_error="dead-letter")
    host.input(0, ("a", 1), timestamp=77)
    host.input(2, ("a", 1))

    (letter,) = [effect for effect in host.of(Emit) if effect.is_dead_letter]
    assert letter.timestamp == 77
    assert letter.payload == {
        "agent": "agent",
        "action": "divides",
        "key": ("a", 1),
        "input": 0,
        "error_type": "ZeroDivisionError",
        "error_message": "division by zero",
    }
    assert host.outputs == [0.5]
    assert host.finished == [1, 2]
    assert host.failure is None


def test_a_dead_lettered_run_cancels_its_open_calls() -> None:
    """The failure is final, so nothing will attach to them again; a replay fails the same way [E1.8, E3.11, I7]."""
    host = Host(agent_of(divides_later), on_action_error="dead-letter")
    host.input(0)
    host.run_call(2)
    host.acknowledge()
    again = Host(agent_of(divides_later), Disk(log=host.disk.log), on_action_error="dead-letter")
    again.start()
    again.input(0)

    assert [effect.call for effect in host.of(CancelCall)] == [1]
    assert [effect.payload for effect in again.of(Emit)] == [effect.payload for effect in host.of(Emit)]
    assert again.of(StartCall) == []
    assert again.finished == host.finished == [1]


def test_open_calls_are_not_cancelled_when_the_task_fails() -> None:
    """The replay attaches to what runs [E1.8, E2.7, I7]."""
    host = Host(agent_of(divides_later))
    host.input(0)
    host.run_call(2)
    host.acknowledge()

    assert isinstance(host.failure, ActionError)
    assert host.of(CancelCall) == []


def test_an_action_that_fails_early_because_its_code_changed_is_a_mismatch() -> None:
    """It does not end as a dead letter while its journal says that it went on [E2.2, E3.7]."""

    async def fails_at_once(event: InputEvent, ctx: RunnerContext) -> None:
        raise ValueError("changed")

    host = Host(agent_of(divides_later))
    host.input(1)
    host.run()
    again = Host(agent_of(fails_at_once), Disk(log=host.disk.log), on_action_error="dead-letter")
    again.start()
    again.input(1)

    # The changed code needs no journal before it fails, so that it claims none; one that it claims counts.
    assert again.failure is None

    async def claims_and_fails(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.now()
        raise ValueError("changed")

    third = Host(agent_of(claims_and_fails), Disk(log=host.disk.log), on_action_error="dead-letter")
    third.start()
    third.input(1)
    assert isinstance(third.failure, ReplayMismatchError)


def test_a_condition_that_fails_fails_its_action() -> None:
    """As the action itself would [E1.2, E1.8]."""

    class Found(Event):
        score: Any

    @on(Found, lambda event: event.score > 1)
    def high(event: Found, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=event.score))

    def sends(event: InputEvent, ctx: RunnerContext) -> None:
        for score in event.input:
            ctx.send_event(Found(score=score))

    host = Host(agent_of(sends, high), on_action_error="dead-letter")
    host.input([1, 2, 3])
    host.input(["x", 5])

    assert host.outputs == [2, 3]
    assert [effect.payload["action"] for effect in host.of(Emit) if effect.is_dead_letter] == ["high"]
    assert host.finished == [1, 2]


def test_an_action_that_does_not_take_its_arguments_fails_like_any_other() -> None:
    """The call of an `async def` function is the author's code too [E1.8]."""

    async def action(event: InputEvent) -> None:
        pass

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert isinstance(host.failure.__cause__, TypeError)


def test_a_cancellation_that_escapes_an_action_is_a_failure() -> None:
    """Nobody but the author can have cancelled it [E1.8]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ctx.durable_execute_async(coroutine, 1)
        handle.cancel()
        await handle

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert isinstance(host.failure.__cause__, asyncio.CancelledError)


# The engine


def test_a_fault_cannot_be_caught() -> None:
    """A broad `except` around a durable call does not turn a fault into an outcome [E3.7]."""
    seen: list[str] = []

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        while True:
            try:
                ctx.durable_execute(object)
            except BaseException as error:  # noqa: BLE001 - what an author might write
                seen.append(type(error).__name__)
                ctx.send_event(OutputEvent(output="went on"))
                return

    host = Host(agent_of(action))
    host.input(1)
    host.input(2)

    assert isinstance(host.failure, EncodingError)
    assert seen == ["EngineStopped"]
    assert host.finished == []


def test_no_other_task_of_the_action_goes_on_after_a_fault() -> None:
    """Nothing follows the failure of the task, whatever the author's code would still do [E3.7]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        async def opens() -> None:
            ctx.durable_execute_async(coroutine, 1)

        async def sends() -> None:
            ctx.send_event(OutputEvent(output="went on"))

        await asyncio.gather(opens(), sends(), return_exceptions=True)
        ctx.send_event(OutputEvent(output="went on"))

    host = Host(agent_of(action))
    host.input([object])
    host.engine.close()
    host.perform()

    assert isinstance(host.failure, EncodingError)
    assert host.outputs == []
    assert type(host.effects[-1]) is FailTask


def test_nothing_happens_after_a_fault() -> None:
    """Every later command is without effect [E3.7]."""
    host = Host(agent_of(divides_later))
    host.input(1)
    host.returns(object())
    before = len(host.effects)

    host.input(2, "another")
    host.returns(1, 2)
    host.acknowledge()
    host.advance(100_000)

    assert len(host.effects) == before


def test_a_fault_of_the_host_stops_the_engine() -> None:
    """A port that raises leaves a half-done run behind, so nothing goes on [E3.7]."""
    host = Host(agent_of(divides))
    host.engine.process_input(1, key_bytes("k"), b"no pickle", None, host.now_ms)
    host.perform()

    assert host.failure is not None
    assert not isinstance(host.failure, ActionError)


def test_an_acknowledgement_of_nothing_is_a_fault() -> None:
    """Host and engine disagree about what was appended [E2.2]."""
    host = Host(agent_of(divides))
    host.engine.acknowledge([99], host.now_ms)
    host.perform()

    assert isinstance(host.failure, BridgeError)
    assert "99" in str(host.failure)


def test_an_interrupt_goes_through_and_stops_the_engine() -> None:
    """Ctrl-C in a local run is not an action's failure [E1.8]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        raise KeyboardInterrupt

    host = Host(agent_of(action))
    with pytest.raises(KeyboardInterrupt):
        host.input(1)

    assert list(map(type, host.engine.take_effects())) == [FailTask]


# Closing


def test_closing_seals_the_context_before_it_ends_the_code(caplog: pytest.LogCaptureFixture) -> None:
    """What a `finally` then tries to send, emit or journal is refused and logged [E2.7]."""
    refused: list[str] = []

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        memory = ctx.short_term_memory
        try:
            await ctx.durable_execute_async(coroutine, 1)
        finally:
            attempts = [
                lambda: ctx.send_event(OutputEvent(output="late")),
                lambda: ctx.durable_execute_async(coroutine, 2),
                lambda: memory.set("late", 1),
                ctx.uuid4,
            ]
            for attempt in attempts:
                try:
                    attempt()
                except ContextMisuseError as error:
                    refused.append(str(error))

    host = Host(agent_of(action))
    host.input(1)
    before = len(host.effects)
    with caplog.at_level(logging.INFO):
        host.engine.close()
    host.perform()
    host.engine.complete_call(1, CallReturned(1), host.now_ms)
    host.perform()

    assert len(refused) == 4
    assert all("after the action had ended" in text for text in refused)
    assert len(host.effects) == before
    assert sum("refused" in record.getMessage() for record in caplog.records) == 4


def test_closing_twice_or_with_code_that_fails_raises_nothing() -> None:
    """A task that closes must close [E2.7]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            await ctx.durable_execute_async(coroutine, 1)
        finally:
            raise RuntimeError("in clean-up")

    host = Host(agent_of(action))
    host.input(1)

    host.engine.close()
    host.engine.close()


# The context


def test_the_context_works_on_the_engines_thread_only() -> None:
    """A call from another thread raises an error that says so [E3.12]."""
    caught: list[BaseException] = []

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        def elsewhere() -> None:
            try:
                ctx.send_event(OutputEvent(output=1))
            except ContextMisuseError as error:
                caught.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    host = Host(agent_of(action))
    host.input(1)

    assert "another thread" in str(caught[0])
    assert host.outputs == []


def test_a_context_that_outlives_its_action_is_refused() -> None:
    """Neither its memory nor its calls can be used by another run [E3.12]."""
    kept: list[RunnerContext] = []

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        if kept:
            kept[0].send_event(OutputEvent(output="smuggled"))
        kept.append(ctx)

    host = Host(agent_of(action))
    host.input(1)
    host.input(2)

    assert isinstance(host.failure, ActionError)
    assert "after the action had ended" in str(host.failure)


def test_sending_what_is_no_event_is_refused() -> None:
    """The type is named, with the remedy [E1.2]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event("text")  # type: ignore[arg-type]

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert "send_event takes an Event, not str" in str(host.failure)


def test_no_record_is_appended_for_a_fault() -> None:
    """What stops the engine is not recorded as an outcome [E3.7]."""
    host = Host(agent_of(divides_later))
    host.input(1)
    host.returns(object())

    assert host.of(Append) == []
