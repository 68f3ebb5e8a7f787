"""Taking back what was started: cancelled handles and tasks, dead letters, services that do not listen (I6, I7, M7)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    BaseAsyncSubagentSetup,
    RunnerContext,
    RunState,
    SubagentFutures,
    SubagentRequest,
)
from tests.unit.subagents.callers import run
from tests.unit.subagents.remote import CancellableJobs, Jobs, Remote


def test_cancelling_before_anything_was_sent_sends_nothing() -> None:
    """The request leaves when the action waits, so that a cancel before that is none for the service [I6]."""
    jobs = CancellableJobs()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1)
        cancelled = [handle.cancel(), handle.cancel()]
        await asyncio.sleep(100)
        try:
            await handle
        except asyncio.CancelledError:
            return cancelled
        return None

    result = run(body, jobs)

    assert result.values == [[True, False]]
    assert jobs.remote.log == []


def test_a_cancelled_run_is_cancelled_at_the_service() -> None:
    """It is told with the reference, once; `await` raises; another cancel does nothing [I6, M7]."""
    jobs = CancellableJobs()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(10)
        cancelled = [handle.cancel(), handle.cancel(), handle.done()]
        await asyncio.sleep(10)
        with pytest.raises(asyncio.CancelledError):
            await handle
        return cancelled

    assert run(body, jobs).values == [[True, False, True]]
    assert jobs.remote.log[-1] == "cancel" and jobs.remote.asked["cancel"] == 1
    ((_, request),) = [asked for asked in jobs.requests if asked[0] == "cancel"]
    assert request.run == f"run of {request.call_id}"


def test_a_cancel_does_not_overtake_its_submit() -> None:
    """A submit that is under way ends first, and the cancel then has its reference [I6, M7]."""
    jobs = CancellableJobs()
    jobs.latency = 30

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(10)
        handle.cancel()

    run(body, jobs)

    assert jobs.remote.log == ["submit", "cancel"]
    assert jobs.requests[-1][1].run is not None


def test_a_submit_that_hangs_holds_its_cancel_no_longer_than_the_timeout() -> None:
    """What never comes back is given up at the call's time-out, then cancelled without a reference [M6, M7]."""

    class Hanging(CancellableJobs):
        async def call_submit_request(self, request: SubagentRequest) -> Any:
            self.remote.submit(request)
            await asyncio.Event().wait()

    jobs = Hanging(timeout=60)

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(10)
        handle.cancel()

    run(body, jobs)

    assert jobs.remote.log == ["submit", "cancel"]


@pytest.mark.logs_warning
def test_a_cancel_is_repeated_until_the_service_accepts_it() -> None:
    """Neither the end of the action nor failures end it; without a record in between [M7]."""
    jobs = CancellableJobs(Remote(faults={"cancel": lambda n: TimeoutError("busy") if n < 20 else None}))

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(1)
        handle.cancel()
        return "ended"

    result = run(body, jobs)

    assert result.values == ["ended"]
    assert jobs.remote.asked["cancel"] == 20
    # Intent and outcome of the submit, the timer, the cancellation.
    assert result.metrics["journal_records"] == 4


@pytest.mark.logs_warning
def test_a_cancel_may_be_given_up() -> None:
    """With `cancel_timeout` the run ends although the service never accepted [M7]."""
    jobs = CancellableJobs(Remote(faults={"cancel": lambda _: TimeoutError("busy")}), cancel_timeout=30)

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(1)
        handle.cancel()

    assert run(body, jobs).values == [None]
    assert 2 < jobs.remote.asked["cancel"] < 10


def test_a_service_that_cannot_cancel_is_not_asked_to() -> None:
    """Without `call_cancel_request` the handle is cancelled and the run goes on [M7]."""
    jobs = Jobs(timeout=30)

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        first, second = setup.submit(ctx, 1000), setup.submit(ctx, 1000)
        await asyncio.sleep(1)
        first.cancel()
        return (await second).reason

    result = run(body, jobs)

    assert result.values == ["timeout"]
    assert set(jobs.remote.log) == {"submit", "status"}


@pytest.mark.parametrize("how", ["task", "wait_for", "any"])
def test_what_ends_the_wait_reaches_the_service(how: str) -> None:
    """A cancelled task, a time-out of asyncio's and the end of an action cancel what they leave open [I7, I3, E3.11]."""
    jobs = CancellableJobs()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        if how == "any":
            await SubagentFutures(setup.submit(ctx, 1), handle).await_any()
            return
        waiting = asyncio.ensure_future(handle)
        if how == "task":
            await asyncio.sleep(3)
            waiting.cancel()
        else:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(waiting, 3)

    run(body, jobs)

    (cancelled,) = [run for run in jobs.remote.runs.values() if run.prompt == 1000]
    assert cancelled.state is RunState.CANCELLED


@pytest.mark.logs_warning
def test_a_dead_lettered_input_cancels_its_runs_first() -> None:
    """A failure that is final takes back what was started; the dead letter follows when the service has accepted that [I7, M7, E1.8]."""
    jobs = CancellableJobs(Remote(faults={"cancel": lambda n: TimeoutError("busy") if n < 3 else None}))

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(10)
        raise ValueError(handle.call_id)

    result = run(body, jobs, **{"on-action-error": "dead-letter"})

    (letter,) = result.dead_letters
    assert letter.value["error_type"] == "ValueError"
    assert jobs.remote.asked["cancel"] == 3
    assert result.metrics["dead_letters"] == 1


def test_a_failure_of_the_job_cancels_nothing() -> None:
    """The task stops, and its replay is to find the run [I7]."""
    jobs = CancellableJobs()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1000)
        await asyncio.sleep(10)
        raise ValueError(handle.call_id)

    with pytest.raises(ActionError):
        run(body, jobs)
    assert "cancel" not in jobs.remote.log
