"""Asynchronous sub-agents on the real engine: what is asked, in which order, and what comes of it."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    BaseAsyncSubagentSetup,
    DefinitionError,
    RetryPolicy,
    RunnerContext,
    RunState,
    RunStatus,
    SubagentFutures,
    SubagentRequest,
    SubagentResult,
    UnawaitedHandleError,
)
from tests.unit.subagents.callers import run
from tests.unit.subagents.remote import BlockingJobs, CancellableJobs, Jobs, Remote


async def ask_once(ctx: RunnerContext, jobs: BaseAsyncSubagentSetup) -> Any:
    """Submit a run that completes at its third probe."""
    return (await jobs.submit(ctx, 3)).result


@pytest.mark.parametrize("jobs", [Jobs, BlockingJobs])
def test_a_run_is_submitted_polled_and_fetched(jobs: type[Jobs]) -> None:
    """One submit, probes until the run has completed, one fetch; three records, however often it is asked about [M, M2, M3]."""
    remote = Remote()

    result = run(ask_once, jobs(remote))

    assert result.values == [{"answer": 3}]
    assert remote.log == ["submit", "status", "status", "status", "fetch"]
    assert result.metrics["journal_records"] == 3
    assert result.metrics["calls_repeated"] == 2


def test_the_request_is_sent_at_submit_and_polled_before_the_await() -> None:
    """Sending does not wait for an await, nor do the probes; the outcome waits to be looked at [M, E3.15]."""
    jobs = Jobs()
    seen: list[Any] = []

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 2)
        assert not handle.done() and jobs.remote.log == []
        await asyncio.sleep(60)
        seen.append(list(jobs.remote.log))
        return handle.done(), (await handle).result, await handle is await handle

    assert run(body, jobs).values == [(True, {"answer": 2}, True)]
    assert seen == [["submit", "status", "status", "fetch"]]


def test_requests_say_who_asks_how_often_and_until_when() -> None:
    """Prompt, ids and reference are the same in all requests of a call; attempts count within a slot [M1, D3]."""
    jobs = Jobs(timeout=timedelta(minutes=5))

    run(ask_once, jobs)

    assert [(name, request.attempt, request.prompt) for name, request in jobs.requests] == [
        ("submit", 1, 3),
        ("status", 1, 3),
        ("status", 2, 3),
        ("status", 3, 3),
        ("fetch", 3, 3),
    ]
    (call_id,) = {request.call_id for _, request in jobs.requests}
    assert [request.run for _, request in jobs.requests] == [None, *[f"run of {call_id}"] * 4]
    assert all(request.deadline is not None and request.trace_parent for _, request in jobs.requests)


def test_intervals_grow_are_spread_and_obey_the_service() -> None:
    """Pauses grow by the factor up to the longest, each a little shorter; a hint is obeyed, also a longer one [M3]."""
    hints = iter([None, None, None, 30.0, None])
    times: list[float] = []

    class Hinting(Jobs):
        async def call_query_status(self, request: SubagentRequest) -> RunStatus:
            times.append(asyncio.get_running_loop().time())
            hint = next(hints, "end")
            return RunStatus(RunState.COMPLETED) if hint == "end" else RunStatus(RunState.RUNNING, retry_after=hint)

    run(ask_once, Hinting(status_poll_interval=1, status_poll_factor=2, status_poll_max_interval=timedelta(seconds=3)))

    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert [round(pause, 3) for pause in pauses] != [2, 3, 3, 30, 3]
    for pause, (least, most) in zip(pauses, [(1.8, 2), (2.7, 3), (2.7, 3), (30, 33), (2.7, 3)], strict=True):
        assert least - 0.002 <= pause <= most + 0.002


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (RunStatus(RunState.FAILED, "no credit"), "error", "no credit"),
        (RunStatus(RunState.CANCELLED, "by an operator"), "cancelled", "by an operator"),
        (RunStatus(RunState.FAILED), "error", "the run of sub-agent 'jobs' failed"),
        (RunStatus(RunState.CANCELLED), "cancelled", "the run of sub-agent 'jobs' was cancelled"),
    ],
)
def test_what_the_service_says_of_a_run_is_data(status: RunStatus, reason: str, message: str) -> None:
    """A failed and a cancelled run are failed results with the service's reason; nothing is fetched [M2, M4, V1]."""

    class Ending(Jobs):
        async def call_query_status(self, request: SubagentRequest) -> RunStatus:
            return status

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        result = await setup.submit(ctx, 1)
        return result.is_success, result.reason, result.error_message

    jobs = Ending()

    assert run(body, jobs).values == [(False, reason, message)]
    assert [name for name, _ in jobs.requests] == ["submit"]


def test_a_submit_may_answer_at_once() -> None:
    """A result in place of a reference is the outcome; nothing is asked any more [M4]."""

    class Refusing(Jobs):
        async def call_submit_request(self, request: SubagentRequest) -> Any:
            return SubagentResult.error("bad credentials")

    jobs = Refusing()

    assert run(ask_once, jobs).values == [None]
    assert jobs.requests == []


@pytest.mark.parametrize("operation", ["status", "fetch"])
def test_a_system_failure_is_retried_then_raised(operation: str) -> None:
    """What escapes a probe or a fetch comes back from `await` and from `done()`, never as a result [M4, I2]."""
    jobs = Jobs(
        Remote(faults={operation: lambda _: ConnectionError("gone")}),
        retry=RetryPolicy(max_attempts=3, initial=timedelta(seconds=7)),
    )

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1)
        raised = []
        for look in (lambda: handle, lambda: handle):
            try:
                await look()
            except ConnectionError as error:
                raised.append(str(error))
        with pytest.raises(ConnectionError, match="gone"):
            handle.done()
        with pytest.raises(ConnectionError, match="gone"):
            SubagentFutures(handle).done()
        return raised

    result = run(body, jobs)

    assert result.values == [["gone", "gone"]]
    assert jobs.remote.asked[operation] == 3
    assert result.metrics["calls_retried"] == 2


def test_failures_with_successes_between_them_do_not_add_up() -> None:
    """Only attempts that fail one after the other use up the retries: a long wait survives a service that fails now and then [M4]."""
    jobs = Jobs(
        Remote(faults={"status": lambda n: ConnectionError("now and then") if n % 2 else None}),
        retry=RetryPolicy(max_attempts=2, initial=timedelta(milliseconds=10)),
    )

    assert run(ask_once, jobs).values == [{"answer": 3}]
    assert jobs.remote.asked["status"] > 4


def test_a_submit_that_fails_raises_from_the_await() -> None:
    """It is asked about before it is repeated, and raised when the retries are used up [M5]."""
    jobs = Jobs(retry=RetryPolicy(max_attempts=2, initial=timedelta(milliseconds=10)))

    def refuse(_: SubagentRequest) -> Any:
        jobs.remote.log.append("submit")
        raise PermissionError("no")

    jobs.remote.submit = refuse  # type: ignore[method-assign]  # the service is down

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        try:
            await setup.submit(ctx, 1)
        except PermissionError as error:
            return str(error)
        return None

    assert run(body, jobs).values == ["no"]
    assert jobs.remote.log == ["submit", "status", "submit"]


def test_a_submit_whose_answer_is_lost_is_found_by_its_status() -> None:
    """The repeated attempt asks first, and attaches to the run that the first one started [M, D3]."""
    jobs = Jobs(Remote(faults={"submit": lambda n: ConnectionError("lost") if n == 1 else None}))

    assert run(ask_once, jobs).values == [{"answer": 3}]
    assert jobs.remote.log == ["submit", "status", "status", "status", "status", "fetch"]
    assert [*jobs.remote.starts.values()] == [1]


def test_an_unknown_status_is_a_failure() -> None:
    """A probe that returns something else than a status, or a state that is none, raises [M, M2]."""

    class Vague(Jobs):
        async def call_query_status(self, request: SubagentRequest) -> RunStatus:
            return "WORKING ON IT"  # type: ignore[return-value]  # what authors return

    with pytest.raises(ActionError, match="call_query_status of sub-agent 'jobs' returned 'WORKING ON IT'"):
        run(ask_once, Vague(retry=RetryPolicy(max_attempts=1)))
    with pytest.raises(
        ValueError, match="'PAUSED' is no state of a run; map what the service says to one of NOT_STARTED"
    ):
        RunStatus("PAUSED")  # type: ignore[arg-type]  # as above


def test_a_timeout_covers_the_whole_call_and_reaches_the_service() -> None:
    """After sending and waiting for so long the result is a failed one, and the run is cancelled [M6, M7]."""
    jobs = CancellableJobs(timeout=1000)
    jobs.latency = 2

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        begun = ctx.now()
        result = await setup.submit(ctx, 10_000, timeout=timedelta(seconds=60))
        return result.reason, result.error_message, (ctx.now() - begun).total_seconds()

    (value,) = run(body, jobs).values

    assert value == ("timeout", "sub-agent 'jobs' did not answer within 60000 ms", 60.0)
    assert jobs.remote.log[-1] == "cancel"
    assert [run.state for run in jobs.remote.runs.values()] == [RunState.CANCELLED]


def test_a_timeout_while_sending_cancels_too() -> None:
    """The request may have arrived although its answer did not [M6, M7]."""
    jobs = CancellableJobs()

    class Slow(CancellableJobs):
        async def call_submit_request(self, request: SubagentRequest) -> Any:
            self.remote.submit(request)
            await asyncio.sleep(1000)

    jobs = Slow()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        return (await setup.submit(ctx, 1, timeout=5)).reason

    assert run(body, jobs).values == ["timeout"]
    assert jobs.remote.log == ["submit", "cancel"]
    assert [request.run for name, request in jobs.requests if name == "cancel"] == [None]


def test_a_run_that_does_not_start_times_out() -> None:
    """One that the service accepted and leaves alone is given up after `start_timeout`, and cancelled [M6]."""

    class Queued(CancellableJobs):
        async def call_query_status(self, request: SubagentRequest) -> RunStatus:
            return RunStatus(RunState.NOT_STARTED)

    jobs = Queued(start_timeout=20)

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        begun = ctx.now()
        result = await setup.submit(ctx, 1)
        return result.reason, result.error_message, (ctx.now() - begun).total_seconds()

    (value,) = run(body, jobs).values

    assert value == ("timeout", "sub-agent 'jobs' accepted the run and did not start it within 20000 ms", 20.0)
    assert jobs.remote.log == ["submit", "cancel"]


@pytest.mark.parametrize("waits", [False, True])
def test_an_open_handle_is_an_error_also_when_its_run_has_ended(waits: bool) -> None:
    """Whether anybody looked decides, not whether the outcome came in time; nothing is cancelled [I4, I7]."""
    jobs = CancellableJobs()

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        setup.submit(ctx, 1)
        if waits:
            await asyncio.sleep(100)

    with pytest.raises(UnawaitedHandleError, match=r"sub-agent 'jobs', submitted at .*test_asynchronous\.py:\d+"):
        run(body, jobs)
    assert "cancel" not in jobs.remote.log


def test_a_cancelled_handle_is_no_open_one() -> None:
    """Cancelling counts as looking, also when the outcome is there already [I4]."""

    async def body(ctx: RunnerContext, setup: BaseAsyncSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1)
        await asyncio.sleep(100)
        return handle.cancel()

    assert run(body, Jobs()).values == [False]


def test_methods_must_be_of_one_kind() -> None:
    """All of them run in one place [M]."""
    with pytest.raises(DefinitionError, match="async def call_submit_request, def call_query_status"):

        class Mixed(Jobs):
            def call_query_status(self, request: SubagentRequest) -> RunStatus:
                return RunStatus(RunState.RUNNING)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_concurrency": 0}, "max_concurrency of Jobs is 0; give a whole number from 1"),
        ({"max_calls_per_run": True}, "max_calls_per_run of Jobs is True"),
        ({"rate_limit": -1}, "rate_limit of Jobs is -1; give a number of calls per second above 0"),
        ({"rate_limit": "3"}, "rate_limit of Jobs is '3'"),
        ({"timeout": "3"}, "timeout of a sub-agent call is '3'; give seconds or a timedelta"),
        ({"retry": 3}, "retry of Jobs is 3; give a RetryPolicy"),
        ({"status_poll_factor": 0.5}, "status_poll_factor of Jobs is 0.5"),
        ({"timeout": 0}, "timeout"),
        ({"start_timeout": -1}, "start_timeout is -1"),
        ({"status_poll_interval": 0}, "status_poll_interval is 0"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict[str, Any], message: str) -> None:
    """The error names the argument, its value and what to give [R2, M3, M8]."""
    with pytest.raises(DefinitionError, match=message):
        Jobs(**arguments)


def test_an_unknown_argument_is_refused() -> None:
    """The error lists those that there are [R2]."""
    with pytest.raises(TypeError, match="Jobs takes no argument 'polling'; it takes cancel_timeout, description"):
        Jobs(polling=1)
