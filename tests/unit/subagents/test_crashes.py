"""Asynchronous sub-agents and crashes at every point: what was started is found again, what was cancelled stays cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    BaseAsyncSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    RunState,
    SubagentFutures,
)
from flink_agents_subagent.testing import simulate_crashes
from tests.unit.subagents.callers import agent_of
from tests.unit.subagents.remote import BlockingJobs, CancellableJobs, Jobs, Remote

INPUTS = [("a", 1), ("b", 2)]


class Strict(Remote):
    """A service without idempotency keys: a second submit would be a second run. Checked after each simulation."""

    def reset(self) -> None:
        """Look at what the last simulation has done, and forget it."""
        assert all(count == 1 for count in self.starts.values()), self.starts
        super().reset()

    def submit(self, request: Any) -> str:
        """Start a run, whatever the key."""
        self.runs.pop(request.call_id, None)
        return super().submit(request)


def lose(every: int) -> Callable[[int], BaseException | None]:
    """Lose the answer to each so many-th request."""
    return lambda number: ConnectionError("lost") if number % every == 0 else None


@pytest.mark.parametrize("jobs", [CancellableJobs, BlockingJobs])
def test_no_run_is_started_twice(jobs: type[Any]) -> None:
    """Killed at every point, with lost responses: each call id starts one run, and each run is waited for [M, D3, E8.2]."""
    remote = Strict(faults={"submit": lose(2), "status": lose(5), "fetch": lose(3)})

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handles = SubagentFutures(setup.submit(ctx, 1), setup.submit(ctx, 3))
        first = await handles.await_any()
        more = await setup.submit(ctx, 1, session_id=first.session_id)
        return [(await first).result, more.result, [result.result for result in await handles.await_all()]]

    retry = RetryPolicy(max_attempts=20, initial=timedelta(milliseconds=100))
    report = simulate_crashes(agent_of(body, jobs(remote, retry=retry)), INPUTS, seeds=5)
    remote.reset()

    assert report.crashes > 30
    assert remote.cancels == {}


@pytest.mark.logs_warning
@pytest.mark.parametrize("how", ["handle", "timeout", "dead letter", "race"])
def test_what_was_taken_back_stays_so(how: str) -> None:
    """Wherever the process dies, every run that was started and given up has been cancelled in the end [M6, M7, I6, I7, E8.2]."""
    remote = Remote(faults={"cancel": lose(2)})
    left_running: list[Any] = []

    def check() -> None:
        left_running.extend(run for run in remote.runs.values() if run.state is RunState.RUNNING)

    class Checked(CancellableJobs):
        def close(self) -> None:
            check()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000, timeout=30 if how == "timeout" else None)
        if how == "race":
            return (await (await SubagentFutures(handle, setup.submit(ctx, 1)).await_any())).result
        if how == "timeout":
            return (await handle).is_success
        await asyncio.sleep(2)
        if how == "dead letter":
            raise ValueError("final")
        return handle.cancel()

    options = {"on-action-error": "dead-letter"}
    report = simulate_crashes(agent_of(body, Checked(remote)), INPUTS, seeds=10, options=options)

    assert report.crashes > 30
    assert left_running == []
    assert not any(count > 1 for count in remote.starts.values())


def test_a_cancel_in_the_same_breath_sends_nothing_on_replay_either() -> None:
    """Where it was cancelled before it was sent, no life sends it [I6, E8.2]."""
    remote = Remote()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        given_up = setup.submit(ctx, 1)
        given_up.cancel()
        return (await setup.submit(ctx, 2)).result

    simulate_crashes(agent_of(body, CancellableJobs(remote)), INPUTS, seeds=5)

    assert {run.prompt for run in remote.runs.values()} == {2}
    assert remote.asked["cancel"] == 0


def test_limits_survive_a_crash() -> None:
    """The calls of executions that ended before the checkpoint count, and are not made again to be counted [G2, G3, E8.2]."""
    made: list[int] = []

    class Counted(CancellableJobs):
        def close(self) -> None:
            made.append(len(self.remote.runs))

    jobs = Counted(max_calls_per_run=3)

    def action(probes: int) -> Callable[..., Any]:
        async def act(event: InputEvent, ctx: RunnerContext) -> None:
            setup = ctx.get_resource("jobs", ResourceType.AGENT)
            results = [await setup.submit(ctx, number) for number in (probes, 1)]
            ctx.send_event(OutputEvent(output=[result.reason for result in results]))

        return act

    agent = Agent("caller").add_resource("jobs", ResourceType.AGENT, jobs)
    # The second one waits long enough for the first to have ended before some checkpoint.
    agent.add_action("one", InputEvent, action(1)).add_action("two", InputEvent, action(12))

    report = simulate_crashes(agent, INPUTS[:1], seeds=20)

    # Whoever gets the third call, there is no fourth.
    assert report.crashes > 30
    assert set(made) == {3}


def test_waiting_calls_keep_their_order_over_a_crash() -> None:
    """A lane lets calls through one at a time, in order, in every life [M8, E8.2]."""
    jobs = Jobs(max_concurrency=1)

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handles = [setup.submit(ctx, probes) for probes in (2, 1, 1)]
        return [(await handle).result for handle in handles]

    simulate_crashes(agent_of(body, jobs), INPUTS, seeds=10)


@pytest.mark.logs_warning
def test_an_action_that_fails_takes_back_the_runs_of_the_others() -> None:
    """Each life fails again, and none waits for a run that an earlier one has cancelled [I7, M7, E4.5, E8.2]."""
    remote = Remote(faults={"cancel": lose(2)})
    states: list[RunState] = []

    class Checked(CancellableJobs):
        def close(self) -> None:
            states.extend(run.state for run in self.remote.runs.values())

    async def asks(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.get_resource("jobs", ResourceType.AGENT).submit(ctx, 1000)

    async def fails(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="before"))
        await asyncio.sleep(2)
        raise ValueError("final")

    agent = Agent("caller").add_action("asks", InputEvent, asks).add_action("fails", InputEvent, fails)
    agent.add_resource("jobs", ResourceType.AGENT, Checked(remote))

    report = simulate_crashes(agent, INPUTS, seeds=20, options={"on-action-error": "dead-letter"})

    assert report.crashes > 30 and report.differences == []
    assert len(report.result.dead_letters) == len(INPUTS)
    assert set(states) == {RunState.CANCELLED}
