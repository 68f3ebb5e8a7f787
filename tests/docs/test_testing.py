"""What docs/testing.md says, beyond its examples."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    Agent,
    ContextMisuseError,
    InputEvent,
    OutputEvent,
    RunnerContext,
    SimulationError,
)
from flink_agents_subagent.testing import LocalRunner, ManualClock, simulate_crashes
from tests.docs.pages import page


def _agent(function: Any) -> Agent:
    return Agent("sample").add_action("act", InputEvent, function)


def test_a_runner_works_inside_an_asynchronous_test() -> None:
    """`run` may be called while a loop runs, and leaves it running [E8.1]."""

    async def test() -> list[str]:
        values = LocalRunner(page("testing").Translator()).run([("ada", "yes")]).values
        await asyncio.sleep(0)
        return values

    assert asyncio.run(test()) == ["YES"]


def test_what_would_fail_the_job_is_raised() -> None:
    """The action's exception is the cause; the job's own time begins on 1 January 2024 [E8.1, E1.8]."""

    async def fail(event: InputEvent, ctx: RunnerContext) -> None:
        raise KeyError(ctx.now().isoformat())

    with pytest.raises(ActionError, match="action 'act' of agent 'sample' failed for key #") as caught:
        LocalRunner(_agent(fail)).run([("ada", 1)])

    assert caught.value.__cause__.args == ("2024-01-01T00:00:00+00:00",)


def test_a_clock_only_moves_forward() -> None:
    """It takes seconds or a duration, and needs a time zone [E8.1]."""
    clock = ManualClock(dt.datetime(2030, 1, 1, tzinfo=dt.timezone.utc))
    clock.advance(1.5)
    clock.advance(dt.timedelta(minutes=1))

    assert clock.now().isoformat() == "2030-01-01T00:01:01.500000+00:00"
    with pytest.raises(ContextMisuseError, match="does not move back"):
        clock.advance(-1)
    with pytest.raises(ContextMisuseError, match="needs a time zone"):
        ManualClock(dt.datetime(2030, 1, 1))  # noqa: DTZ001 - that is the point


async def _hurry(event: InputEvent, ctx: RunnerContext) -> None:
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(len, event.input, timeout=30)))


_HURRIED = [("ada", "yes"), ("bob", "no")]


def test_timeouts_fire_in_random_runs_only() -> None:
    """An action that does not handle its timeout passes without the random runs, and fails in one of them [E8.2]."""
    assert simulate_crashes(_agent(_hurry), _HURRIED, seeds=0).crashes > 0
    with pytest.raises(SimulationError, match="DurableTimeoutError"):
        simulate_crashes(_agent(_hurry), _HURRIED)


def test_a_failing_run_can_be_repeated_alone() -> None:
    """The message names the run; giving it as `only` leads to the same failure, and another one does not [E8.2]."""
    with pytest.raises(SimulationError) as first:
        simulate_crashes(_agent(_hurry), _HURRIED)
    only = re.search(r"only='(seed \d+)'", str(first.value))
    assert only is not None

    with pytest.raises(SimulationError) as again:
        simulate_crashes(_agent(_hurry), _HURRIED, only=only[1])

    assert str(again.value) == str(first.value)
    assert simulate_crashes(_agent(_hurry), _HURRIED, only="point 3").simulations == 1


def test_an_unknown_run_is_refused() -> None:
    """`only` takes what a message says [E8.2]."""
    with pytest.raises(ContextMisuseError, match="there is no run 'all'; give 'point <n>' or 'seed <n>'"):
        simulate_crashes(page("testing").Translator(), [("ada", "yes")], only="all")


def test_a_run_that_never_ends_is_an_error() -> None:
    """A function that waits for something that nobody sets does not hang the test [E8.1]."""

    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(wait_for_ever)

    with pytest.raises(Exception, match=r"1 of 1 inputs never end \(keys 'ada'\)"):
        LocalRunner(_agent(act)).run([("ada", 1)])
