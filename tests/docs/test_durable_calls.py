"""What docs/durable-calls.md says, beyond its examples."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import enum
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    ActionError,
    Agent,
    ContextMisuseError,
    DurableCall,
    DurableCallError,
    DurableTimeoutError,
    EncodingError,
    InputEvent,
    OutputEvent,
    Record,
    RecordTooLargeError,
    RetryPolicy,
    RunnerContext,
)
from flink_agents_subagent.testing import LocalResult, LocalRunner, ManualClock, simulate_crashes

Action = Callable[[Any, RunnerContext], Any]


class Color(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: int


@dataclasses.dataclass
class Box:
    inside: Any


class Model(BaseModel):
    text: str


class Odd(Exception):  # noqa: N818 - an exception that nobody can rebuild
    def __init__(self, lock: Any) -> None:
        super().__init__("odd")
        self.lock = lock


async def later(value: Any, seconds: float = 1) -> Any:
    """Answer after a while."""
    await asyncio.sleep(seconds)
    return value


def run(function: Action, *inputs: Any, clock: ManualClock | None = None, **options: Any) -> LocalResult:
    """Run an action for inputs of one key."""
    agent = Agent("sample").add_action("act", InputEvent, function)
    told = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    return LocalRunner(agent, options=told, clock=clock).run([("ada", value) for value in inputs])


def send(ctx: RunnerContext, value: object) -> None:
    """Send an output."""
    ctx.send_event(OutputEvent(output=value))


_VALUES: list[Any] = [
    *(None, True, 1 << 80, 1.5, "text", b"\xff"),
    *([1], (1,), Point(1), {(1, 2): "x"}, {1, 2}, frozenset({3})),
    *(Color.RED, Decimal("1.0"), dt.date(2024, 2, 29), dt.time(1), dt.timedelta(days=-1), uuid.UUID(int=1)),
    dt.datetime(2024, 2, 29, tzinfo=dt.timezone.utc),
    *(Box([Model(text="x")]), Model(text="x"), np.float32(1.5), np.arange(3), Record(("a",), (1,))),
]


@pytest.mark.parametrize("value", _VALUES, ids=lambda value: type(value).__name__)
def test_listed_types_come_back_as_they_are(value: Any) -> None:
    """Each type of the page's table goes through the journal [E3.5]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        got = await ctx.durable_execute_async(later, value)
        send(
            ctx, (type(got) is type(value), bool(np.all(got == value)), got is value and isinstance(value, list | Box))
        )

    assert run(act, 1).values == [(True, True, False)]


def test_other_types_fail_the_job_unless_pickle_is_allowed() -> None:
    """The message names call, type and option, and no dead letter hides it [E3.5, E3.7]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        send(ctx, type(await ctx.durable_execute_async(later, Box({"inside": 1j}))).__name__)

    with pytest.raises(
        EncodingError, match=r"durable call .*:later \(slot 0 of action 'act'\).*complex.*journal\.pickle"
    ):
        run(act, 1, on_action_error="dead-letter")
    assert run(act, 1, journal__pickle="allow").values == ["Box"]


def test_a_result_is_a_copy() -> None:
    """What the function goes on to do with its result does not reach the action [E3.5]."""
    kept: list[int] = [1]

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        got = await ctx.durable_execute_async(lambda: kept)
        kept.append(2)
        send(ctx, got)

    assert run(act, 1).values == [[1]]


def test_an_exception_that_cannot_be_rebuilt_keeps_its_name_and_text() -> None:
    """The first run already meets the stand-in, so that a replay takes the same branch [E3.5]."""

    def fail() -> None:
        raise Odd(threading.Lock())

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(DurableCallError) as caught:
            await ctx.durable_execute_async(fail)
        send(ctx, str(caught.value))

    assert run(act, 1).values == [f"{__name__}.Odd: odd"]


def test_large_results_and_strange_inputs_are_refused() -> None:
    """The limit is checked before the store sees the record; an input must be identifiable once a run journals [E3.13, E4.4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        if event.input is not print:
            await ctx.durable_execute_async(later, "x" * event.input)

    with pytest.raises(RecordTooLargeError, match=r"durable call .*later.*more than journal\.max-record-bytes = 2048"):
        run(act, 3000, journal__max_record_bytes="2 KiB")
    assert run(act, print).values == []

    async def call(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(later, 1)

    with pytest.raises(EncodingError, match="the input of a run with durable calls cannot be identified"):
        run(call, 1j)


def test_the_journal_is_small_and_only_where_it_is_needed() -> None:
    """About 300 bytes beside the value; a run without calls leaves nothing [PF6, E4.6]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        for _ in range(event.input):
            await ctx.durable_execute_async(later, "x" * 1000)
        ctx.short_term_memory.set("done", True)

    metrics = run(act, 50).metrics

    assert metrics["journal_records"] == 50
    assert metrics["journal_bytes"] / 50 < 1000 + 300
    assert "journal_records" not in run(act, 0).metrics


_keys: dict[int, set[str]] = defaultdict(set)


def _charge(key: str, amount: int) -> int:
    _keys[amount].add(key)
    return amount


async def _pay(event: InputEvent, ctx: RunnerContext) -> None:
    if event.input == 0:
        ctx.uuid4()  # asks for an identity, and records nothing
        return
    await ctx.durable_execute_async(_charge, str(ctx.uuid4()), event.input)


def _keys_of(*amounts: int) -> list[int]:
    """Return how many keys the other side has seen for each amount, when inputs always come back in order."""
    _keys.clear()
    agent = Agent("till").add_action("pay", InputEvent, _pay)
    simulate_crashes(agent, [("ada", amount) for amount in amounts], reorder="none", seeds=50)
    return [len(_keys[amount]) for amount in amounts if amount]


def test_a_repeated_call_has_its_idempotency_key_again() -> None:
    """However often the process dies, each payment comes with one key [E5.3]."""
    assert _keys_of(5, 7, 9) == [1, 1, 1]


def test_an_input_that_records_nothing_does_not_change_later_keys() -> None:
    """The same with an input before them that asks for an id only [E5.3]."""
    assert _keys_of(0, 5, 7) == [1, 1]


def test_attempts_are_counted_across_crashes() -> None:
    """A call that always fails is attempted as often as its policy says, wherever the process dies [E3.9]."""

    def fail() -> None:
        raise ConnectionError("down")

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(ConnectionError, match="down"):
            await ctx.durable_execute_async(fail, retry=RetryPolicy(max_attempts=3))
        send(ctx, "gave up")

    report = simulate_crashes(Agent("sample").add_action("act", InputEvent, act), [("ada", 1)])

    assert report.result.values == ["gave up"]
    assert [call.attempt for call in report.result.calls] == [1, 2, 3]


def test_a_timeout_covers_attempts_and_pauses() -> None:
    """Attempts of 4 s with pauses of 4 s do not get a third chance within 15 s [E3.10, E3.9]."""

    async def fail() -> None:
        await asyncio.sleep(4)
        raise ConnectionError

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        policy = RetryPolicy(max_attempts=9, initial=dt.timedelta(seconds=4), factor=1)
        with pytest.raises(DurableTimeoutError, match="did not finish within 15000 ms"):
            await ctx.durable_execute_async(fail, retry=policy, timeout=15)

    assert len(run(act, 1).calls) == 2


def test_a_blocking_call_that_is_too_late_is_dropped() -> None:
    """Its result is counted as late, and the action has had its timeout [E3.10]."""
    clock = ManualClock()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(DurableTimeoutError):
            await ctx.durable_execute_async(clock.advance, 60, timeout=30)
        await ctx.durable_execute_async(later, 1)

    metrics = run(act, 1, clock=clock).metrics

    assert [metrics[name] for name in ("calls_timed_out", "calls_abandoned", "late_results")] == [1, 1, 1]
    assert metrics["abandoned_calls_running"] == 0


def test_cancelling_before_the_action_waits_sends_nothing() -> None:
    """The work starts when the action waits, awaited or not, and a handle that nobody awaits ends with it [E3.1, E3.11]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        never, running = ctx.durable_execute_async(later, "never"), ctx.durable_execute_async(later, "running", 100)
        assert never.cancel() and not never.cancel()
        with pytest.raises(asyncio.CancelledError):
            await never
        await ctx.durable_execute_async(later, "awaited", 5)
        assert not running.done()

    calls = run(act, 1).calls

    assert [(call.value, call.is_cancelled) for call in calls] == [(None, True), ("awaited", False)]


def test_a_batch_keeps_its_bound_and_its_order() -> None:
    """Never more than so many at a time, outcomes in the order of the calls, exceptions among them [E3.14]."""
    running: list[int] = [0, 0]

    async def count(number: int) -> int:
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(10 - number)
        running[0] -= 1
        if number == 3:
            raise ValueError(number)
        return number

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        calls = [DurableCall(count, (number,)) for number in range(6)]
        outcomes = await ctx.durable_execute_all_async(calls, max_concurrency=2)
        send(ctx, [outcome.value if outcome.is_success else type(outcome.error).__name__ for outcome in outcomes])
        with pytest.raises(ValueError, match="3"):
            outcomes[3].unwrap()

    assert run(act, 1).values == [[0, 1, 2, "ValueError", 4, 5]]
    assert running == [0, 2]


def test_a_def_action_calls_in_line() -> None:
    """The outcome is durable when the function returns; coroutine functions and async actions are refused [E3.16, E2.6]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        send(ctx, ctx.durable_execute(max, 1, 2))
        with pytest.raises(ContextMisuseError, match="declare the action async def"):
            ctx.durable_execute(later, 1)

    async def wrong(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(max, 1, 2)

    agent = Agent("sample").add_action("act", InputEvent, act)
    assert simulate_crashes(agent, [("ada", 1)]).result.values == [2]
    with pytest.raises(ActionError, match=r"await ctx\.durable_execute_async instead"):
        run(wrong, 1)


def test_an_outcome_is_recorded_while_the_action_waits_for_something_else() -> None:
    """Three calls and the sleep are in the journal although only the last one is awaited [E3.15]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        early = [ctx.durable_execute_async(later, number, 1) for number in range(3)]
        await asyncio.sleep(100)
        assert all(handle.done() for handle in early)

    assert run(act, 1).metrics["journal_records"] == 4
