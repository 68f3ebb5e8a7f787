from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from flink_agents_subagent.testing import Fault, JobServer
from flink_agents_subagent.testing.http import RunRequest


class Client:
    """A client that keeps its connection."""

    def __init__(self, server: JobServer) -> None:
        self._connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)

    def send(self, method: str, path: str, content: Any = None, key: str = "") -> tuple[int, dict[str, Any]]:
        """Send a request and return status and content of its answer."""
        body = None if content is None else json.dumps(content).encode()
        self._connection.request(method, path, body, {"Idempotency-Key": key} if key else {})
        self.answer = self._connection.getresponse()
        return self.answer.status, json.loads(self.answer.read())

    def submit(self, key: str = "k", prompt: Any = "p") -> tuple[int, dict[str, Any]]:
        """Ask for a run."""
        return self.send("POST", "/runs", {"prompt": prompt, "session_id": "s"}, key)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _work(request: RunRequest) -> Any:
    if request.prompt == "bad":
        raise ValueError("no such thing")
    return [request.prompt, request.session_id, request.key]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[JobServer]:
    """A server whose runs complete at once."""
    with JobServer(tmp_path / "log", work=_work, retry_after_s=7) as running:
        yield running


@pytest.fixture
def client(server: JobServer) -> Iterator[Client]:
    """A client of the server."""
    made = Client(server)
    yield made
    made.close()


def test_a_run_from_submit_to_result(client: Client, server: JobServer) -> None:
    """A new run is 201 with its address; then status and result are asked for by its key."""
    assert client.submit() == (201, {"state": "COMPLETED", "reason": None})
    assert client.answer.headers["Location"] == "/runs/k"
    assert client.send("GET", "/runs/k") == (200, {"state": "COMPLETED", "reason": None})
    assert client.send("GET", "/runs/k/result") == (200, {"result": ["p", "s", "k"]})
    assert (server.log().started, server.log().ended) == ({"k": 1}, {"k": "COMPLETED"})


def test_the_same_key_is_the_same_run(client: Client, server: JobServer) -> None:
    """A repeated submit is answered with the run's state; one with another content is refused."""
    client.submit()

    assert client.submit() == (200, {"state": "COMPLETED", "reason": None})
    assert client.submit(prompt="q")[0] == 409
    assert server.log().started == {"k": 1}


def test_keys_may_be_any_text(client: Client, server: JobServer) -> None:
    """A key is percent-encoded in header and path, and stands in the log like that."""
    keys = [quote(key, safe="", errors="surrogatepass") for key in ("a/b é?\ud800", "a/b é?\ud801")]
    for key in keys:
        client.submit(key)

    assert [client.send("GET", f"/runs/{key}/result")[0] for key in keys] == [200, 200]
    assert [request.key for request in server.log().requests] == keys * 2
    assert len(server.log().started) == 2


def test_the_hint_is_given_until_the_end(client: Client, server: JobServer) -> None:
    """Retry-After stands in the answers about a run that goes on, the one to its submit included."""
    server.set_faults(Fault("hold", "run"))

    assert client.submit() == (201, {"state": "RUNNING", "reason": None})
    assert client.answer.headers["Retry-After"] == "7"
    client.send("GET", "/runs/k")
    assert client.answer.headers["Retry-After"] == "7"
    server.set_faults()
    assert client.send("GET", "/runs/k")[1]["state"] == "COMPLETED"
    assert "Retry-After" not in client.answer.headers


def test_there_is_no_result_without_success(client: Client, server: JobServer) -> None:
    """A failed run has a reason instead; one that is forgotten is gone; one that never was is not found."""
    client.submit("failed", "bad")
    server.set_faults(Fault("expire", "run"))
    assert client.submit("gone")[0] == 201

    assert client.send("GET", "/runs/failed") == (200, {"state": "FAILED", "reason": "ValueError: no such thing"})
    assert client.send("GET", "/runs/failed/result")[0] == 409
    assert client.send("GET", "/runs/gone")[0] == client.send("GET", "/runs/gone/result")[0] == 410
    assert client.send("GET", "/runs/never")[0] == client.send("GET", "/runs/never/result")[0] == 404


def test_cancelling_is_idempotent(client: Client, server: JobServer) -> None:
    """A run is cancelled once however often it is asked for, and a key before its run as well."""
    server.set_faults(Fault("hold", "run"))
    client.submit()

    assert [client.send("POST", f"/runs/{key}/cancel")[0] for key in ("k", "k", "early", "early")] == [200] * 4
    assert client.send("GET", "/runs/k")[1]["state"] == "CANCELLED"
    assert client.submit("early") == (200, {"state": "CANCELLED", "reason": None})
    assert (server.log().started, server.log().cancelled) == ({"k": 1}, {"k": 1, "early": 1})


def test_a_call_is_answered_with_its_result(client: Client, server: JobServer) -> None:
    """The deferred kind: one request, one answer; the same key gives the same answer and does nothing again."""
    content = {"prompt": "p", "session_id": "s"}

    assert client.send("POST", "/calls", content, "k") == (200, {"result": ["p", "s", "k"]})
    assert client.send("POST", "/calls", content, "k") == (200, {"result": ["p", "s", "k"]})
    assert client.send("POST", "/calls", content | {"prompt": "bad"}, "l") == (
        422,
        {"error": "ValueError: no such thing"},
    )
    assert server.log().started == {"k": 1, "l": 1}


@pytest.mark.parametrize(
    ("fault", "acts", "status", "raised"),
    [
        (Fault("status", "submit", status=429, retry_after_s=3), False, 429, None),
        (Fault("drop", "submit"), False, None, http.client.RemoteDisconnected),
        (Fault("reset", "submit"), True, None, http.client.RemoteDisconnected),
        (Fault("malformed", "submit"), True, 201, json.JSONDecodeError),
        (Fault("cut", "submit"), True, 201, http.client.IncompleteRead),
        (Fault("delay", "submit", delay_ms=1), True, 201, None),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_faults_of_a_request(
    client: Client, server: JobServer, fault: Fault, acts: bool, status: int | None, raised: type[Exception] | None
) -> None:
    """Whether what was asked for is done although the answer does not come is the difference between the kinds."""
    server.set_faults(fault)

    with nullcontext() if raised is None else pytest.raises(raised):
        client.submit()

    log = server.log()
    assert (log.started == {"k": 1}, log.requests[0].status) == (acts, status)
    assert fault.kind != "status" or client.answer.headers["Retry-After"] == "3"


def test_faults_hit_the_request_that_they_are_for(client: Client, server: JobServer) -> None:
    """Each operation can be hit alone; the others go on."""
    server.set_faults(*(Fault("status", on) for on in ("status", "result", "cancel", "call")))
    content = {"prompt": "p", "session_id": "s"}
    asked = [("POST", "/runs"), ("GET", "/runs/k"), ("GET", "/runs/k/result"), ("POST", "/runs/k/cancel")]

    def statuses() -> list[int]:
        return [client.send(*each, content, "k")[0] for each in [*asked, ("POST", "/calls")]]

    assert statuses() == [201, 503, 503, 503, 503]
    assert statuses() == [200] * 5


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("fail", "submit"), "a request cannot meet the fault 'fail'"),
        (Fault("expire"), "a request cannot meet the fault 'expire'"),
        (Fault("reset", "run"), "a run cannot meet the fault 'reset'"),
        (Fault("drop", "/runs"), "there is no request '/runs'"),
    ],
)
def test_faults_that_can_hit_nothing_are_refused(client: Client, server: JobServer, fault: Fault, text: str) -> None:
    """They would be waited for in vain; what was set before stays."""
    server.set_faults(Fault("status", "submit"))

    with pytest.raises(ValueError, match=text):
        server.set_faults(fault)
    assert client.submit()[0] == 503


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "/runs", {"prompt": "p"}, 400),
        ("POST", "/runs", ["p"], 400),
        ("DELETE", "/runs/k", None, 404),
        ("GET", "/other", None, 404),
    ],
)
def test_what_is_not_agreed_is_refused(
    client: Client, server: JobServer, method: str, path: str, content: Any, status: int
) -> None:
    """A content or a path that the protocol does not have starts nothing."""
    assert client.send(method, path, content, "k")[0] == status
    assert not server.log().started


def test_a_submit_needs_a_key(client: Client) -> None:
    """Without one, a repeated request would start a second run."""
    assert client.submit("") == (400, {"error": "the Idempotency-Key is missing"})


def test_closing_lets_go_of_what_is_held(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A held request ends with the server, without an answer and without noise."""
    with JobServer(tmp_path / "log") as server:
        server.set_faults(Fault("hold", "submit"))
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)
        connection.request("POST", "/runs", b'{"prompt": 1, "session_id": "s"}', {"Idempotency-Key": "k"})
        while not server.log().started:
            pass

    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
    connection.close()
    assert server.log().requests[0].status is None
    assert capfd.readouterr().err == ""


def test_a_log_is_continued(tmp_path: Path) -> None:
    """A second server with the same file adds to it, and its lines are counted on."""
    for key in ("a", "b"):
        with JobServer(tmp_path / "log") as server:
            client = Client(server)
            client.submit(key)
            client.close()

    assert [request.key for request in server.log().requests] == ["a", "b"]
    assert server.log().requests[0].order < server.log().requests[1].order


def test_a_server_has_an_address_while_it_runs(tmp_path: Path) -> None:
    """Before its block it can be asked for nothing."""
    server = JobServer(tmp_path / "log")

    with pytest.raises(RuntimeError, match="before `with`"):
        _ = server.url
    with pytest.raises(RuntimeError, match="before `with`"):
        server.set_faults()
