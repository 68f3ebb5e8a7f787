from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    DefinitionError,
    InputEvent,
    NotExpressibleError,
    OutputEvent,
    ResourceType,
    RunnerContext,
    RunState,
    RunStatus,
    SubagentRequest,
    SubagentResult,
)
from flink_agents_subagent.integrations.http_jobs import HttpJobSubagent, HttpServiceError, HttpSubagent
from flink_agents_subagent.testing import Fault, JobServer, LocalRunner, RunRequest
from flink_agents_subagent.testing.http.loopback import Reply
from tests.unit.integrations.canned import CannedServer, canned

_REQUEST = SubagentRequest({"b": [1, None], "a": "é"}, "session", "call-1")
_RUN = "/runs/call-1"
_ACCEPTED = SubagentRequest(_REQUEST.prompt, "session", "call-1", run=_RUN)


def _work(request: RunRequest) -> Any:
    if request.prompt == "bad":
        raise ValueError("no such thing")
    return {"said": request.prompt, "in": request.session_id}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[JobServer]:
    """A server whose runs complete at once."""
    with JobServer(tmp_path / "log", work=_work, retry_after_s=3) as running:
        yield running


def ask(
    server: JobServer | CannedServer, *steps: Callable[[HttpJobSubagent], Awaitable[Any]], **arguments: Any
) -> list[Any]:
    """Do the steps with one sub-agent on a loop of their own and return what they return; an error is returned too."""

    async def do() -> list[Any]:
        setup = HttpJobSubagent(url=server.url, **arguments)
        await setup.open()
        try:
            return [await asyncio.gather(step(setup), return_exceptions=True) for step in steps]
        finally:
            await setup.close()

    return [found for (found,) in asyncio.run(do())]


def submit(request: SubagentRequest = _REQUEST) -> Callable[[HttpJobSubagent], Awaitable[Any]]:
    """Return the step that submits."""
    return lambda setup: setup.call_submit_request(request)


def query(request: SubagentRequest = _ACCEPTED) -> Callable[[HttpJobSubagent], Awaitable[Any]]:
    """Return the step that asks for the state."""
    return lambda setup: setup.call_query_status(request)


def fetch(request: SubagentRequest = _ACCEPTED) -> Callable[[HttpJobSubagent], Awaitable[Any]]:
    """Return the step that fetches the result."""
    return lambda setup: setup.call_fetch_result(request)


def cancel(request: SubagentRequest = _ACCEPTED) -> Callable[[HttpJobSubagent], Awaitable[Any]]:
    """Return the step that cancels."""
    return lambda setup: setup.call_cancel_request(request)


def test_a_run_from_submit_to_result(server: JobServer) -> None:
    """Each request is one of the protocol's, and a repeated submit attaches to the run that there is [D3, M]."""
    found = ask(server, submit(), submit(), query(), fetch())

    completed = RunStatus(RunState.COMPLETED, run=_RUN)
    assert found == [_RUN, _RUN, completed, {"said": _REQUEST.prompt, "in": "session"}]
    assert server.log().started == {"call-1": 1}
    assert len({request.body for request in server.log().requests if request.path == "/runs"}) == 1


def test_a_run_that_was_never_submitted_has_not_started(server: JobServer) -> None:
    """Asked by call id alone, as after a crash, an unknown run may be submitted [M2, E3.6]."""
    assert ask(server, query(_REQUEST)) == [RunStatus(RunState.NOT_STARTED)]


def test_a_run_that_was_accepted_and_is_unknown_has_failed(server: JobServer) -> None:
    """Waiting for it would never end, and starting it again would be a second run [M4]."""
    (status,) = ask(server, query())
    server.set_faults(Fault("expire", "run"))
    _, gone, result = ask(server, submit(), query(_REQUEST), fetch())

    assert (status.state, gone.state) == (RunState.FAILED, RunState.FAILED)
    assert status.reason.startswith(
        "the service does not know the run any more: GET /runs/call-1 was answered with 404"
    )
    assert "410" in gone.reason and "410" in result.error_message and not result.is_success


def test_what_became_of_a_run_is_told(server: JobServer) -> None:
    """A failure comes with its reason, a run that goes on with the service's hint [M2, M3]."""
    bad = SubagentRequest("bad", "session", "bad")
    server.set_faults(Fault("hold", "run"))
    _, running = ask(server, submit(), query())
    server.set_faults()

    assert running == RunStatus(RunState.RUNNING, retry_after=3.0, run=_RUN)
    assert ask(server, submit(bad), query(bad))[1] == RunStatus(
        RunState.FAILED, "ValueError: no such thing", run="/runs/bad"
    )


def test_cancelling_is_accepted_also_for_what_is_unknown(server: JobServer) -> None:
    """The service is told the key; that it never had the run, or has forgotten it, is as good [M7, I6]."""
    server.set_faults(
        Fault("hold", "run"), Fault("status", "cancel", status=404), Fault("status", "cancel", status=410)
    )

    assert ask(server, submit(), cancel(), cancel(), cancel(), cancel()) == [_RUN, None, None, None, None]
    assert ask(server, query())[0].state is RunState.CANCELLED
    assert server.log().cancelled == {"call-1": 1}


@pytest.mark.parametrize("status", [400, 401, 403, 409, 413, 422])
def test_a_refused_submit_is_a_failed_result(server: JobServer, status: int) -> None:
    """The service understood and started nothing; its words are the message [M4, V1]."""
    server.set_faults(Fault("status", "submit", status=status))

    (refused,) = ask(server, submit())

    assert refused == SubagentResult.error(f"POST /runs was answered with {status}: a fault was asked for")
    assert not server.log().started


@pytest.mark.parametrize(
    ("step", "on"), [(submit(), "submit"), (query(), "status"), (fetch(), "result"), (cancel(), "cancel")]
)
@pytest.mark.parametrize(
    "fault",
    [
        *({"kind": "status", "status": status} for status in (302, 408, 425, 429, 500, 503)),
        {"kind": "drop"},
        {"kind": "reset"},
        {"kind": "malformed"},
    ],
    ids=lambda fault: "-".join(str(value) for value in fault.values()),
)
def test_what_says_nothing_is_a_system_failure(
    server: JobServer, step: Callable[[HttpJobSubagent], Awaitable[Any]], on: str, fault: Mapping[str, Any]
) -> None:
    """It is raised, so that it is repeated and never taken for a state or a result [M4]."""
    ask(server, submit())
    server.set_faults(Fault(on=on, **fault))

    (error,) = ask(server, step)

    assert isinstance(error, HttpServiceError)
    assert str(error).startswith("POST /runs" if on in ("submit", "cancel") else "GET /runs/call-1")


@pytest.mark.parametrize(("step", "on"), [(query(), "status"), (fetch(), "result"), (cancel(), "cancel")])
@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_refusal_to_speak_of_a_run_is_no_news_of_it(
    server: JobServer, step: Callable[[HttpJobSubagent], Awaitable[Any]], on: str, status: int
) -> None:
    """A run goes on when the credentials for asking about it have run out, so it has not failed [M4]."""
    server.set_faults(Fault("status", on, status=status))

    _, error = ask(server, submit(), step)

    assert isinstance(error, HttpServiceError) and f"answered with {status}" in str(error)


@pytest.mark.parametrize("status", [404, 405])
def test_a_wrong_address_is_no_refusal(server: JobServer, status: int) -> None:
    """That there is no such service fails the job rather than every call of it [M4]."""
    server.set_faults(Fault("status", "submit", status=status))

    (error,) = ask(server, submit())

    assert isinstance(error, HttpServiceError)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(200, {"state": "PAUSED"}), "'PAUSED' is no state of a run"),
        (Reply(200, {"status": "RUNNING"}), "None is no state of a run"),
        (Reply(200, ["RUNNING"]), "no JSON object"),
        (Reply(200, {"state": "COMPLETED", "cost": float("nan")}), "no JSON object"),
    ],
)
def test_an_answer_that_is_not_as_agreed_is_raised(tmp_path: Path, reply: Reply, text: str) -> None:
    """An unknown state is never taken for one that is known [M2, M4]."""
    for step in (submit(), query()):
        with canned(tmp_path, reply) as server:
            (error,) = ask(server, step)
        assert isinstance(error, HttpServiceError) and text in str(error)


def test_a_success_without_result_is_raised(tmp_path: Path) -> None:
    """A result of None is one, no result is none [M4]."""
    with canned(tmp_path, Reply(200, {"result": None}), Reply(200, {})) as server:
        nothing, error = ask(server, fetch(), fetch())

    assert nothing is None
    assert str(error) == "GET /runs/call-1/result was answered with 200, but without a result"


def test_a_result_that_cannot_be_kept_is_a_failed_one(tmp_path: Path) -> None:
    """A service cannot fail the job by what it answers [T9, V1]."""
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    with canned(tmp_path, Reply(200, {"result": deep})) as server:
        (result,) = ask(server, fetch())

    assert "is nested deeper than 64 levels" in result.error_message


@pytest.mark.parametrize(
    ("hint", "pause"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("3600", 60),
        (format_datetime(datetime.now(timezone.utc) - timedelta(hours=1), usegmt=True), 0),
        ("soon", 0),
        ("nan", 0),
        (None, 0),
    ],
)
def test_what_is_put_off_fails_no_sooner_than_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hint: str | None, pause: float
) -> None:
    """A 503 or 429 with Retry-After waits, within bounds, before it counts as a failed attempt [M3, M4]."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("flink_agents_subagent.integrations._http_service.asyncio.sleep", sleep)
    with canned(tmp_path, Reply(503, {}, {} if hint is None else {"Retry-After": hint})) as server:
        (error,) = ask(server, query())

    assert isinstance(error, HttpServiceError)
    assert pauses == [pause]


def test_a_hint_may_be_a_date(tmp_path: Path) -> None:
    """The date of a Retry-After counts from now [M3]."""
    when = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
    with canned(tmp_path, Reply(200, {"state": "RUNNING"}, {"Retry-After": when})) as server:
        (status,) = ask(server, query())

    assert 3000 < status.retry_after <= 3600


def test_requests_carry_identity_and_credentials(tmp_path: Path) -> None:
    """Key, trace and the headers made where the job runs go along; the key of odd call ids is encoded [D3, M1]."""

    class Secured(HttpJobSubagent):
        def request_headers(self) -> Mapping[str, str]:
            return {**super().request_headers(), "Authorization": "Bearer s3cret"}

    odd = SubagentRequest(1, "s/é", "s/é?-1")

    async def do(url: str) -> Any:
        setup = Secured(url=url + "/v1/", headers={"X-Tenant": "acme"})
        await setup.open()
        try:
            return await setup.call_submit_request(odd)
        finally:
            await setup.close()

    with canned(tmp_path, Reply(201, {"state": "RUNNING"})) as server:
        run = asyncio.run(do(server.url))
        (asked,) = server.asked

    assert (asked.method, asked.path, asked.key, run) == (
        "POST",
        "/v1/runs",
        "s%2F%C3%A9%3F-1",
        "/runs/s%2F%C3%A9%3F-1",
    )
    assert json.loads(asked.body) == {"prompt": 1, "session_id": "s/é"}
    sent = {name: asked.headers[name] for name in ("Authorization", "X-Tenant", "traceparent")}
    assert sent == {"Authorization": "Bearer s3cret", "X-Tenant": "acme", "traceparent": odd.trace_parent}


def test_one_request_one_answer(server: JobServer) -> None:
    """The deferred kind gives the result, a failed result for a refusal, and raises what is to be repeated [M5, D3]."""

    async def do() -> list[Any]:
        setup = HttpSubagent(url=server.url)
        await setup.open()
        try:
            requests = (_REQUEST, _REQUEST, SubagentRequest("bad", "session", "call-2"))
            return [await asyncio.gather(setup.call(each), return_exceptions=True) for each in requests]
        finally:
            await setup.close()

    server.set_faults(Fault("reset", "call"))
    (lost,), (answer,), (refused,) = asyncio.run(do())

    assert isinstance(lost, HttpServiceError) and "was not answered" in str(lost)
    assert answer == {"said": _REQUEST.prompt, "in": "session"}
    assert refused == SubagentResult.error("POST /calls was answered with 422: ValueError: no such thing")
    assert server.log().started == {"call-1": 1, "call-2": 1}


class Priced(BaseModel):
    price: int
    since: datetime


def test_prompts_are_sent_as_json(server: JobServer) -> None:
    """A model is sent as its fields; what JSON cannot express is refused by `submit`, with nothing sent [I1, T9]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        setup = ctx.get_resource("service", ResourceType.AGENT)
        with pytest.raises(NotExpressibleError, match=r"prompt\[0\] is NaN, which JSON cannot express"):
            setup.submit(ctx, [float("nan")])
        answer = await setup.submit(ctx, Priced(price=3, since=datetime(2024, 1, 1, tzinfo=timezone.utc)))
        ctx.send_event(OutputEvent(output=answer.get_result()["said"]))

    agent = Agent("sample").add_action("act", InputEvent, act)
    agent.add_resource("service", ResourceType.AGENT, HttpSubagent(url=server.url))

    assert LocalRunner(agent).run([("ada", 1)]).values == [{"price": 3, "since": "2024-01-01T00:00:00Z"}]
    assert len(server.log().requests) == 1


def test_requests_wait_for_a_place(server: JobServer) -> None:
    """No more of them than allowed are under way, and none of those that wait is lost [M8]."""
    server.set_faults(Fault("delay", "status", times=10, delay_ms=5))

    async def do() -> None:
        setup = HttpJobSubagent(url=server.url, max_connections=3)
        await setup.open()
        await asyncio.gather(*[setup.call_query_status(_REQUEST) for _ in range(10)])
        await setup.close()

    asyncio.run(do())
    seen = server.log().requests
    at_once = [sum(other.received_ns <= each.received_ns < (other.answered_ns or 0) for other in seen) for each in seen]

    assert (len(seen), max(at_once)) == (10, 3)


def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    """A connection that is refused, and a closed client, are system failures; closing twice does no harm [M4, R3]."""
    with JobServer(tmp_path / "log") as server:
        url = server.url

    async def do() -> list[BaseException]:
        setup = HttpJobSubagent(url=url)
        await setup.close()
        await setup.open()
        (refused,) = await asyncio.gather(setup.call_query_status(_REQUEST), return_exceptions=True)
        await setup.close()
        (closed,) = await asyncio.gather(setup.call_query_status(_REQUEST), return_exceptions=True)
        return [refused, closed]

    refused, closed = asyncio.run(do())

    assert str(refused).startswith("GET /runs/call-1 was not answered: ConnectError: ")
    assert str(closed) == "GET /runs/call-1 cannot be sent: the connections are closed"


def test_httpx_is_needed_where_the_job_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Describing the sub-agent needs no httpx; opening it says what to install, and where [R2]."""
    monkeypatch.setitem(sys.modules, "httpx", None)
    setup = HttpJobSubagent(url="http://127.0.0.1:1")

    with pytest.raises(
        DefinitionError, match=r"httpx is missing .* TaskManager; install flink-agents-subagent\[http\]"
    ):
        asyncio.run(setup.open())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"url": "jobs.example"}, "'jobs.example' of the service begins neither"),
        ({"url": "http://jobs", "request_timeout": 0}, "request_timeout is 0"),
        ({"url": "http://jobs", "max_connections": 0}, "max_connections 0"),
    ],
)
@pytest.mark.parametrize("kind", [HttpJobSubagent, HttpSubagent])
def test_what_cannot_work_is_refused(kind: type[HttpJobSubagent], arguments: dict[str, Any], text: str) -> None:
    """A mistake in the description is raised by it [R2]."""
    with pytest.raises(DefinitionError, match=text):
        kind(**arguments)
