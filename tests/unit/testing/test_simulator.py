from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    Agent,
    ContextMisuseError,
    InputEvent,
    OutputEvent,
    Resource,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    SimulationError,
)
from flink_agents_subagent.testing import LocalOutput, simulate_crashes

INPUTS = [("ada", 1), ("ada", 2), ("ben", 3)]


async def fetch(number: int) -> int:
    """A coroutine function."""
    await asyncio.sleep(1)
    return 10 * number


def _agent(function: Callable[..., Any]) -> Agent:
    return Agent("sample").add_action("act", InputEvent, function)


async def call_and_count(event: InputEvent, ctx: RunnerContext) -> None:
    """A sound action."""
    value = await ctx.durable_execute_async(fetch, event.input)
    total = ctx.short_term_memory.get("total", 0) + value
    ctx.short_term_memory.set("total", total)
    ctx.send_event(OutputEvent(output=total))


def test_a_sound_agent_passes_and_is_reported() -> None:
    """The report says how the agent was tried, and what it does without crashes [E8.2]."""
    report = simulate_crashes(_agent(call_and_count), INPUTS, seeds=7)

    assert report.points > 30
    assert report.simulations == report.points + 7
    assert report.crashes >= report.points
    assert report.repeated_calls > 0
    assert report.differences == []
    assert sorted(report.result.values) == [10, 30, 30]
    assert report.result.memory == {"ada": {"total": 30}, "ben": {"total": 30}}


def test_an_event_log_changes_nothing() -> None:
    """Neither where the process can die, nor what comes of it [E7.2, E8.2]."""
    options = {"event-log": "file", "event-log.level": "verbose"}

    plain = simulate_crashes(_agent(call_and_count), INPUTS, seeds=5)
    logged = simulate_crashes(_agent(call_and_count), INPUTS, seeds=5, options=options)

    assert (logged.points, logged.crashes, logged.repeated_calls) == (plain.points, plain.crashes, plain.repeated_calls)
    assert (logged.result.values, logged.result.memory) == (plain.result.values, plain.result.memory)


def test_time_chance_and_ids_of_the_context_pass() -> None:
    """What the context gives is the same in every replay, with and without records; it may differ between runs [E2.5, E8.2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=(ctx.now(), ctx.uuid4(), ctx.random().random())))
        if event.input % 2:
            await asyncio.sleep(60)
            ctx.send_event(OutputEvent(output=(ctx.now(), ctx.uuid4(), ctx.random().random())))

    report = simulate_crashes(_agent(act), INPUTS)

    assert any("datetime" in difference for difference in report.differences)


def test_a_race_passes_and_shows_as_a_difference() -> None:
    """Which of two calls ends first may differ after a crash; the journal remembers it [E2.2, E8.2]."""

    async def wait(name: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        return name

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        slow = asyncio.ensure_future(ctx.durable_execute_async(wait, "slow", 20))
        await asyncio.sleep(15)
        quick = asyncio.ensure_future(ctx.durable_execute_async(wait, "quick", 10))
        done, _ = await asyncio.wait([slow, quick], return_when=asyncio.FIRST_COMPLETED)
        ctx.send_event(OutputEvent(output=[await first for first in done]))

    report = simulate_crashes(_agent(act), [("ada", 1)])

    assert report.result.values == [["slow"]]
    assert any("['quick'], the run without crashes gives ['slow']" in difference for difference in report.differences)


def _draws(event: InputEvent, ctx: RunnerContext) -> None:
    ctx.send_event(OutputEvent(output=random.random()))


def _reads_the_clock(event: InputEvent, ctx: RunnerContext) -> None:
    ctx.short_term_memory.set("at", time.perf_counter_ns())


_numbers = itertools.count()


async def _counts_in_the_process(event: InputEvent, ctx: RunnerContext) -> None:
    await ctx.durable_execute_async(fetch, next(_numbers))


async def _decides_by_chance(event: InputEvent, ctx: RunnerContext) -> None:
    if next(_numbers) % 2:
        await ctx.durable_execute_async(fetch, 1)
    await asyncio.sleep(1)


_seen: set[int] = set()


async def _remembers_in_the_process(event: InputEvent, ctx: RunnerContext) -> None:
    await ctx.durable_execute_async(fetch, event.input)
    if event.input not in _seen:
        _seen.add(event.input)
        ctx.send_event(OutputEvent(output=event.input))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        pytest.param(_draws, r"output 1 of key 'ada' is 0\.\d+, a replay of the journal gives 0\.", id="random"),
        pytest.param(_reads_the_clock, r"the memory of key 'ada' is .*, a replay of the journal gives", id="clock"),
        pytest.param(_counts_in_the_process, "ReplayMismatchError.*slot 0", id="argument"),
        pytest.param(_decides_by_chance, "ReplayMismatchError|wait for what it does not hold", id="decision"),
        pytest.param(_remembers_in_the_process, "output 1 of key 'ada' is 1, a replay .* gives missing", id="global"),
    ],
)
def test_an_action_that_is_not_deterministic_is_found(function: Callable[..., Any], message: str) -> None:
    """The error names the first point of divergence and the remedy [E8.2]."""
    _seen.clear()

    with pytest.raises(SimulationError, match=message) as caught:
        simulate_crashes(_agent(function), INPUTS)

    assert "ctx.now(), ctx.random() and ctx.uuid4()" in str(caught.value)


def test_a_failure_says_how_to_repeat_it() -> None:
    """What shows after a crash only is repeated by `only`, which runs nothing else [E8.2]."""
    lives: list[int] = []

    class Life(Resource):
        """Counts how often an action began in one simulation."""

        def open(self) -> None:
            """Begin."""
            lives.clear()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        lives.append(1)
        ctx.get_resource("life", ResourceType.OBJECT)
        await ctx.durable_execute_async(fetch, event.input)
        # The run without a crash and its replay begin each action twice together.
        ctx.send_event(OutputEvent(output=len(lives) > 2))

    agent = _agent(act).add_resource("life", ResourceType.OBJECT, Life())
    with pytest.raises(SimulationError, match=r"only='point \d+'") as caught:
        simulate_crashes(agent, [("ada", 1)])
    only = str(caught.value).partition("only='")[2].partition("'")[0]

    with pytest.raises(SimulationError, match=only):
        simulate_crashes(agent, [("ada", 1)], only=only)


def test_an_agent_that_fails_by_itself_is_no_divergence() -> None:
    """Without a crash the action's own error comes out [E8.2]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        raise KeyError(event.input)

    with pytest.raises(ActionError):
        simulate_crashes(_agent(act), INPUTS)


def test_dead_letters_are_outputs() -> None:
    """They leave exactly once too [E1.8, E1.9, E8.2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        value = await ctx.durable_execute_async(fetch, event.input)
        ctx.send_event(OutputEvent(output=value))
        if event.input == 2:
            raise KeyError(value)

    report = simulate_crashes(_agent(act), INPUTS, options={"on-action-error": "dead-letter"})

    assert report.differences == []
    assert [letter.key for letter in report.result.dead_letters] == ["ada"]
    assert sorted(report.result.values) == [10, 20, 30]


@pytest.mark.parametrize("reorder", ["none", "keys", "inputs"])
def test_inputs_may_come_back_in_another_order(reorder: Any) -> None:
    """An agent without memory passes whatever order its inputs come back in [E4.4, E8.2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(fetch, event.input)))

    report = simulate_crashes(_agent(act), [("ada", 1), ("ada", 2), ("ada", 3), ("ben", 1)], reorder=reorder)

    assert (report.differences == []) == (reorder != "inputs")


def test_identical_inputs_pass() -> None:
    """Each of them has a journal of its own [E4.4, E8.2]."""
    report = simulate_crashes(_agent(call_and_count), [("ada", 1)] * 4 + [("ben", 1)] * 2)

    assert report.differences == []
    assert report.result.outputs[-1] == LocalOutput("ada", 40)


def test_a_reconciled_call_is_made_once() -> None:
    """Over all simulations the function is called once for each, and never again when it was in flight [E3.6, E8.2]."""
    made: list[int] = []
    found: list[int] = []

    async def pay(number: int) -> str:
        made.append(number)
        await asyncio.sleep(1)
        return "paid"

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        def find() -> str:
            found.append(event.input)
            return "paid"

        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(pay, event.input, reconciler=find)))

    report = simulate_crashes(_agent(act), INPUTS)

    assert report.repeated_calls == 0
    assert len(made) <= (report.simulations + 1) * len(INPUTS)
    assert found
    assert report.differences == []


def test_a_failed_attempt_is_not_forgotten() -> None:
    """A crash between two attempts does not grant another one [E3.9, E8.2]."""
    attempts: list[int] = []

    class Fresh(Resource):
        """Forgets the attempts of the simulation before."""

        def open(self) -> None:
            """Forget."""
            attempts.clear()

    def fail(number: int) -> None:
        attempts.append(number)
        raise ConnectionError(number)

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.get_resource("fresh", ResourceType.OBJECT)
        retry = RetryPolicy(max_attempts=3, initial=timedelta(seconds=1), retry_on=(ConnectionError,))
        try:
            await ctx.durable_execute_async(fail, event.input, retry=retry)
        except ConnectionError:
            ctx.send_event(OutputEvent(output="gave up"))

    agent = _agent(act).add_resource("fresh", ResourceType.OBJECT, Fresh())
    report = simulate_crashes(agent, [("ada", 1)])

    assert report.differences == []
    assert len(report.result.calls) == 3


def test_what_only_may_be_is_said() -> None:
    """A wrong `only` is refused [E8.2]."""
    with pytest.raises(ContextMisuseError, match="'point <n>' or 'seed <n>'"):
        simulate_crashes(_agent(call_and_count), INPUTS, only="everything")


def _deadline_of_asyncio(call: Any) -> Any:
    return asyncio.wait_for(call(timeout=None), 5)


def _deadline_of_the_call(call: Any) -> Any:
    return call(timeout=5)


@pytest.mark.parametrize("deadline", [_deadline_of_asyncio, _deadline_of_the_call])
def test_a_timeout_that_passes_only_while_the_job_is_down_is_told_from_chance(deadline: Callable[[Any], Any]) -> None:
    """The advice is about time, not about determinism, which the action has; the error is the one of the job [E8.2, E3.10]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(fetch, 1)
        await deadline(lambda timeout: ctx.durable_execute_async(_slow, timeout=timeout))

    with pytest.raises(
        SimulationError, match=r"Time goes by while a job is down or its store is slow(.|\n)*Repeat with"
    ):
        simulate_crashes(_agent(act), [("ada", 1)])


async def _slow() -> None:
    await asyncio.sleep(4)
