"""Calls of services behind HTTP from an action: what the service is told, and what the action learns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    InputEvent,
    OutputEvent,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    UnawaitedHandleError,
)
from flink_agents_subagent.integrations.http_jobs import HttpJobSubagent, HttpServiceError
from flink_agents_subagent.testing import Fault, JobServer, LocalRunner, simulate_crashes

_QUICK = RetryPolicy(max_attempts=3, initial=timedelta(milliseconds=1))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[JobServer]:
    """A server whose runs complete at once."""
    with JobServer(tmp_path / "log") as running:
        yield running


def asking(server: JobServer, function: Any, **arguments: Any) -> Agent:
    """Return an agent whose action may use the service."""
    service = HttpJobSubagent(url=server.url, status_poll_interval=0.01, retry=_QUICK, **arguments)
    return Agent("sample").add_action("act", InputEvent, function).add_resource("service", ResourceType.AGENT, service)


def of(ctx: RunnerContext) -> HttpJobSubagent:
    """Return the sub-agent."""
    service: HttpJobSubagent = ctx.get_resource("service", ResourceType.AGENT)
    return service


async def ask(event: InputEvent, ctx: RunnerContext) -> None:
    """Have the input worked on, and send what came of it."""
    result = await of(ctx).submit(ctx, event.input)
    ctx.send_event(OutputEvent(output=(result.result, result.reason, result.error_message)))


def test_a_lost_answer_is_asked_after(server: JobServer) -> None:
    """A submit whose answer is lost or garbled is followed by a question, and not sent again [M, D3]."""
    server.set_faults(Fault("reset", "submit"), Fault("malformed", "submit"))

    values = LocalRunner(asking(server, ask)).run([("ada", 1), ("bob", 2)]).values

    assert sorted(values) == [(1, None, None), (2, None, None)]
    assert sum(request.path == "/runs" for request in server.log().requests) == 2
    assert sorted(server.log().started.values()) == [1, 1]


def test_a_submit_that_never_arrived_is_sent_again(server: JobServer) -> None:
    """The service knows no run, so that sending the request again starts the first one [M, D3]."""
    server.set_faults(Fault("drop", "submit"), Fault("status", "submit"))

    assert LocalRunner(asking(server, ask)).run([("ada", 1)]).values == [(1, None, None)]
    made = [f"{request.method} {request.path.replace(request.key, '*')}" for request in server.log().requests]
    assert made[:5] == ["POST /runs", "GET /runs/*", "POST /runs", "GET /runs/*", "POST /runs"]
    assert list(server.log().started.values()) == [1]


def test_a_timeout_reaches_the_service(server: JobServer) -> None:
    """The result is a failed one, and the run is told to stop; one that never begins has a limit of its own [M6, M7]."""
    server.set_faults(Fault("hold", "run"), Fault("delay", "run", delay_ms=60_000))

    values = LocalRunner(asking(server, ask, timeout=0.3, start_timeout=0.1)).run([("ada", 1), ("ada", 2)]).values

    assert [reason for _, reason, _ in values] == ["timeout", "timeout"]
    assert sorted(server.log().cancelled.values()) == [1, 1]


@pytest.mark.logs_warning
def test_cancelling_reaches_the_service(server: JobServer) -> None:
    """A handle that is cancelled before anything was sent sends nothing; afterwards the run is told, once [I6, M7]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        never, sent = of(ctx).submit(ctx, "never"), of(ctx).submit(ctx, "sent")
        never.cancel()
        await asyncio.sleep(0.2)
        sent.cancel()
        for handle in (never, sent):
            with pytest.raises(asyncio.CancelledError):
                await handle
        ctx.send_event(OutputEvent(output=sent.call_id))

    server.set_faults(Fault("hold", "run"), Fault("reset", "cancel"))

    (call_id,) = LocalRunner(asking(server, act)).run([("ada", 1)]).values

    assert server.log().started == server.log().cancelled == {call_id: 1}


def test_a_run_that_fails_is_a_failed_result(server: JobServer) -> None:
    """So is one that the service has lost; the job goes on [M4, V1]."""
    server.set_faults(Fault("fail", "run"), Fault("expire", "run"))

    (_, failed, why), (_, lost, how) = LocalRunner(asking(server, ask)).run([("ada", 1), ("ada", 2)]).values

    assert (failed, lost) == ("error", "error")
    assert "a fault was asked for" in why
    assert "the service does not know the run any more" in how


def test_a_service_that_stays_away_is_raised_and_leaves_the_run(server: JobServer) -> None:
    """After its attempts the failure surfaces at `await`, of the same class on every replay; the run is not cancelled [M4, I7, E3.5]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(HttpServiceError, match="answered with 503") as raised:
            await of(ctx).submit(ctx, event.input)
        ctx.send_event(OutputEvent(output=type(raised.value).__module__))

    server.set_faults(Fault("status", "status", times=10_000))

    report = simulate_crashes(asking(server, act), [("ada", 1)], seeds=0)

    assert report.result.values == ["flink_agents_subagent.integrations.http_jobs"]
    assert list(server.log().started.values()) == [1]
    assert not server.log().cancelled


def test_a_forgotten_handle_names_the_line_of_the_action(server: JobServer) -> None:
    """The place of the `submit` is in the author's code, not in the integration [I4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        of(ctx).submit(ctx, event.input)

    with pytest.raises(UnawaitedHandleError, match=rf"sub-agent 'service', submitted at .*{Path(__file__).name}:\d+"):
        LocalRunner(asking(server, act)).run([("ada", 1)])
