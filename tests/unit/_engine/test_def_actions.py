"""`def` actions: run in one go, make their durable calls on the task thread."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Append, StartCall
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import (
    ActionError,
    ContextMisuseError,
    EncodingError,
    ReplayMismatchError,
    StoreError,
    StoreFencedError,
)
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of
from tests.unit._engine.programs import coroutine, kinds

calls: list[Any] = []


@pytest.fixture(autouse=True)
def _forget_calls() -> None:
    calls.clear()


def charge(amount: int) -> str:
    """A durable function that notes each call."""
    calls.append(amount)
    if amount < 0:
        raise ValueError(f"cannot charge {amount}")
    return f"charged {amount}"


def two_charges(event: InputEvent, ctx: RunnerContext) -> None:
    """Charge twice."""
    first = ctx.durable_execute(charge, event.input)
    second = ctx.durable_execute(charge, event.input + 1)
    ctx.send_event(OutputEvent(output=[first, second, ctx.now().timestamp()]))


def replayed(action: Any, log: list[Append], value: Any = 1, **settings: Any) -> Host:
    """Bring an input back to a process that finds this log."""
    host = Host(agent_of(action), Disk(log=list(log)), now_ms=2_000_000, **settings)
    host.start()
    host.input(value)
    return host


def test_a_call_is_made_recorded_durably_and_returned_in_one_visit() -> None:
    """Nothing is suspended, and no call or append goes through the effects [E3.16, E2.6]."""
    host = Host(agent_of(two_charges))
    host.input(1)

    assert host.outputs[0][:2] == ["charged 1", "charged 2"]
    assert len(host.commits) == 2
    assert host.of(StartCall) == host.of(Append) == []
    assert host.finished == [1]


class TickingHost(Host):
    """A host whose time goes on while the task thread is blocked."""

    def now(self) -> int:
        """Return a later time at each call."""
        self.now_ms += 5
        return self.now_ms


def test_a_replay_takes_outcomes_by_slot_and_calls_nothing() -> None:
    """Values, exceptions and the clock are those of the first run [E3.16, E2.3]."""
    host = TickingHost(agent_of(two_charges))
    host.input(1)
    calls.clear()

    again = replayed(two_charges, host.disk.log)

    assert calls == []
    assert again.outputs == host.outputs
    assert again.finished == [1]
    assert again.commits == []


def test_a_crash_between_two_calls_repeats_only_the_second() -> None:
    """The first has its record; the second had none [E3.6, E3.16]."""
    host = Host(agent_of(two_charges))
    host.input(1)
    calls.clear()

    again = replayed(two_charges, host.disk.log[:1])

    assert calls == [2]
    assert again.outputs[0][:2] == ["charged 1", "charged 2"]
    assert [append.record_number for append in again.commits] == [2]


def test_a_recorded_exception_is_raised_again() -> None:
    """The same class and arguments, without a call [E3.5]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            ctx.durable_execute(charge, -5)
        except ValueError as error:
            ctx.send_event(OutputEvent(output=error.args))

    host = Host(agent_of(action))
    host.input(1)
    again = replayed(action, host.disk.log)

    assert host.outputs == again.outputs == [("cannot charge -5",)]
    assert calls == [-5]


def with_reconciler(event: InputEvent, ctx: RunnerContext) -> None:
    """Charge with a reconciler."""
    ctx.send_event(OutputEvent(output=ctx.durable_execute(charge, 1, reconciler=lambda: "reconciled")))


def test_an_intent_is_durable_before_the_call() -> None:
    """Two records per call, the first before the function runs [E3.6]."""
    host = Host(agent_of(with_reconciler))
    host.input(1)

    assert kinds(host) == ["i", "o"]
    assert host.outputs == ["charged 1"]


@pytest.mark.parametrize(
    ("kept", "expected", "called"), [(0, "charged 1", [1]), (1, "reconciled", []), (2, "charged 1", [])]
)
def test_a_replay_with_a_reconciler_depends_on_what_is_recorded(kept: int, expected: str, called: list[int]) -> None:
    """Nothing: the call is made; an intent: the reconciler decides; an outcome: it is returned [E3.6]."""
    host = Host(agent_of(with_reconciler))
    host.input(1)
    calls.clear()

    again = replayed(with_reconciler, host.disk.log[:kept])

    assert again.outputs == [expected]
    assert calls == called
    assert kinds(again) == ["i", "o"]
    assert again.finished == [1]


def test_another_call_in_a_slot_is_a_mismatch_before_anything_is_called() -> None:
    """The error names both calls [E3.7]."""

    def changed(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(charge, event.input + 100)

    host = Host(agent_of(two_charges))
    host.input(1)
    calls.clear()

    again = replayed(changed, host.disk.log)

    assert isinstance(again.failure, ReplayMismatchError)
    assert "slot 0 of action 'changed'" in str(again.failure)
    assert calls == []


@pytest.mark.logs_warning
def test_rerun_makes_the_changed_call_and_those_after_it() -> None:
    """The reset is durable before the new outcome [E3.7, S1.2]."""

    def changed(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=[ctx.durable_execute(charge, number) for number in (1, 30)]))

    host = Host(agent_of(two_charges))
    host.input(1)
    calls.clear()

    again = replayed(changed, host.disk.log, on_mismatch="rerun")
    third = replayed(changed, again.disk.log)

    assert calls == [30]
    assert kinds(again) == ["o", "o", "r", "o"]
    assert again.outputs == third.outputs == [["charged 1", "charged 30"]]
    assert third.finished == [1]


def test_a_record_that_an_async_neighbour_appended_keeps_its_turn() -> None:
    """A commit takes earlier appends of its run with it, so that the log has no gap [S1.2]."""

    async def waits(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(coroutine, "waited")
        ctx.durable_execute_async(coroutine, "intended", reconciler=lambda: None)
        ctx.send_event(_Go())
        value = await ctx.durable_execute_async(coroutine, "last")
        ctx.send_event(OutputEvent(output=value))

    def charges(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=ctx.durable_execute(charge, 1)))

    charges.trigger = _Go  # type: ignore[attr-defined]
    host = Host(agent_of(waits, charges))
    host.input(1)
    host.run()
    calls.clear()
    again = Host(agent_of(waits, charges), Disk(log=host.disk.log))
    again.start()
    again.input(1)

    numbers = [append.record_number for append in host.disk.log]
    assert numbers == sorted(numbers)
    assert again.outputs == host.outputs == ["charged 1", "last"]
    assert calls == []
    assert again.of(StartCall) == []


class _Go(InputEvent):
    """Triggers the second action."""

    input: Any = None


def test_memory_of_other_executions_is_seen_in_the_same_order_on_replay() -> None:
    """A `def` action that another one triggers runs in the same step [E2.2]."""

    async def one(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(coroutine, 1)
        ctx.sensory_memory.set("by", "one")
        ctx.send_event(_Go())
        await ctx.durable_execute_async(coroutine, 2)
        ctx.sensory_memory.set("by", "one again")

    def two(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=[ctx.sensory_memory.get("by"), ctx.durable_execute(charge, 1)]))

    two.trigger = _Go  # type: ignore[attr-defined]
    host = Host(agent_of(one, two))
    host.input(1)
    host.run()
    again = Host(agent_of(one, two), Disk(log=host.disk.log))
    again.start()
    again.input(1)

    assert again.outputs == host.outputs == [["one", "charged 1"]]


# Faults


class FailingStore(Host):
    """A host whose store does not take records."""

    error: Exception = StoreFencedError("another attempt owns the key groups")

    def commit(self, append: Append) -> None:
        """Refuse."""
        raise self.error


@pytest.mark.parametrize(
    ("error", "expected"), [(StoreFencedError("fenced"), StoreFencedError), (OSError("disk full"), StoreError)]
)
def test_a_record_that_is_not_durable_stops_the_action(error: Exception, expected: type[Exception]) -> None:
    """No broad `except` of the author goes on without it; the error names the call [S1.1, E3.7]."""
    seen: list[str] = []

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            ctx.durable_execute(charge, 1)
        except Exception:  # noqa: BLE001 - what an author might write
            seen.append("caught")
        seen.append("went on")

    host = FailingStore(agent_of(action))
    host.error = error
    host.input(1)

    assert type(host.failure) is expected
    assert "charge (slot 0 of action 'action') could not be recorded" in str(host.failure)
    assert seen == []
    assert host.finished == []


def test_a_result_that_cannot_be_rebuilt_stops_the_engine() -> None:
    """Before anything is recorded [E3.5]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(object)

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, EncodingError)
    assert "builtins:object" in str(host.failure)
    assert host.commits == []


@pytest.mark.parametrize(
    ("misuse", "text"),
    [
        (lambda ctx: ctx.durable_execute_async(charge, 1), "declare the action async def"),
        (lambda ctx: ctx.durable_execute_all_async([]), "declare the action async def"),
        (lambda ctx: ctx.as_completed([]), "declare the action async def"),
        (lambda ctx: ctx._open_call(None), "declare the action async def"),
        (lambda ctx: ctx.durable_execute(coroutine, 1), "coroutine function"),
        (lambda ctx: ctx.durable_execute(charge, 1, reconciler=coroutine), "coroutine function"),
    ],
)
def test_what_would_have_to_suspend_is_refused_at_once(misuse: Any, text: str) -> None:
    """The message says what to declare [E2.6, E3.16]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        misuse(ctx)

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert isinstance(host.failure.__cause__, ContextMisuseError)
    assert text in str(host.failure.__cause__)
    assert "'action'" in str(host.failure.__cause__)


def test_blocking_in_an_async_action_is_refused_with_the_async_twin() -> None:
    """It would hold up every other key [E3.16]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(charge, 1)

    host = Host(agent_of(action))
    host.input(1)

    assert "await ctx.durable_execute_async instead" in str(host.failure)


def test_a_durable_function_may_not_touch_the_context() -> None:
    """Also when it runs on the task thread [E3.12]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(lambda: ctx.send_event(OutputEvent(output=1)))

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert "durable function" in str(host.failure)
    assert host.outputs == []


def test_blocked_time_is_measured() -> None:
    """Function and append together hold the task thread [E3.16, E7.1]."""
    host = Host(agent_of(two_charges))

    def slow(amount: int) -> str:
        host.now_ms += 70
        return str(amount)

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(slow, 1)

    host.engine = Host(agent_of(action)).engine
    host.engine._core.ports = host.engine._core.ports._replace(blocking=host)
    host.input(1)

    assert [(observed.metric, observed.values) for observed in host.observed()] == [("mailbox_blocked_ms", [70])]


def test_a_patch_point_behind_a_recorded_call_is_passed_anew() -> None:
    """The process died before anything behind the call was recorded; the code that was there already goes its new way [E3.8, E3.16]."""
    ways: list[bool] = []

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(int, 1)
        ways.append(ctx.patched("change"))
        ctx.durable_execute(int, 2)

    host = Host(agent_of(action))
    host.input(1)
    for log in (host.disk.log[:1], host.disk.log):
        again = Host(agent_of(action), Disk(log=list(log)))
        again.start()
        again.input(1)

    assert ways == [True, True, True]
