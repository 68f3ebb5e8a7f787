from __future__ import annotations

import http.client
import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.effect_server import SEEN_PATH, answer
from e2e.harness.effects import EffectServer, Fault
from e2e.harness.processes import HarnessError, wait_until
from flink_agents_subagent.testing.http import Request, read_log


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EffectServer]:
    """A server without latency."""
    with EffectServer(tmp_path) as running:
        yield running


class Caller:
    """A client that keeps its connection."""

    def __init__(self, server: EffectServer) -> None:
        self._connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)

    def post(self, path: str, body: bytes, key: str = "k-1") -> tuple[int, dict[str, object]]:
        """Send a request and return status and content of its answer."""
        self.send(path, body, key)
        response = self._connection.getresponse()
        return response.status, json.loads(response.read())

    def send(self, path: str, body: bytes, key: str = "k-1") -> None:
        """Send a request."""
        self._connection.request("POST", path, body, {"Idempotency-Key": key})

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def abort(self) -> None:
        """Close as the system does for a killed process with unread data: at once."""
        self._connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


@pytest.fixture
def caller(server: EffectServer) -> Iterator[Caller]:
    """A client of the server."""
    made = Caller(server)
    yield made
    made.close()


def _finished(server: EffectServer, count: int = 1) -> list[Request]:
    """Return the requests once `count` of them are answered."""

    def answered() -> list[Request]:
        done = [request for request in server.requests() if request.answered_ns is not None]
        return done if len(done) >= count else []

    return wait_until(answered, f"{count} requests are answered", 30)


def test_equal_requests_get_equal_answers(caller: Caller) -> None:
    """The answer depends on the content alone, not on the key or on what came before."""
    first = caller.post("/a", b"content", "k-1")

    assert caller.post("/b", b"content", "k-2") == first == (200, answer(b"content"))
    assert caller.post("/a", b"other") != first


def test_every_request_is_logged(caller: Caller, server: EffectServer) -> None:
    """The log has method, path, key and digest of each request, also of repeated ones, in the order of arrival."""
    caller.post("/a", b"x", "k-1")
    caller.post("/b", b"y", "k-2")
    caller.post("/a", b"x", "k-1")

    seen = [(r.method, r.path, r.key, r.body[:4]) for r in server.requests()]

    assert seen == [("POST", "/a", "k-1", "2d71"), ("POST", "/b", "k-2", "a1fc"), ("POST", "/a", "k-1", "2d71")]


def test_times_and_order_agree(caller: Caller, server: EffectServer) -> None:
    """A request is received before it is answered, and both before the next one of the same caller."""
    caller.post("/a", b"x")
    caller.post("/a", b"y")

    first, second = server.requests()

    assert first.answered_ns is not None
    assert first.received_ns <= first.answered_ns <= second.received_ns
    assert first.order < second.order


def test_a_request_without_answer_stands_in_the_log(caller: Caller, server: EffectServer) -> None:
    """A held request is logged when it arrives, and has no answer until the faults are cleared."""
    server.set_faults([Fault("hold", "/a")])
    caller.send("/a", b"x")
    wait_until(server.requests, "the request arrives", 30)

    held = server.requests()
    server.set_faults([])

    assert [request.answered_ns for request in held] == [None]
    assert [request.status for request in _finished(server)] == [200]


def test_an_asked_for_status_comes_as_often_as_asked(caller: Caller, server: EffectServer) -> None:
    """A fault of two times hits two requests of its path and no other."""
    server.set_faults([Fault("status", "/a", times=2, status=429)])

    statuses = [caller.post(path, b"x")[0] for path in ("/b", "/a", "/a", "/a")]

    assert statuses == [200, 429, 429, 200]


def test_a_reset_is_logged_as_unanswered(caller: Caller, server: EffectServer) -> None:
    """A reset has had its effect, and the caller gets no answer."""
    server.set_faults([Fault("reset")])

    with pytest.raises(http.client.RemoteDisconnected):
        caller.post("/a", b"x")

    (request,) = server.requests()
    assert request.answered_ns is None


def test_a_vanished_caller_is_noted(caller: Caller, server: EffectServer) -> None:
    """An answer that could not be delivered is marked."""
    server.set_faults([Fault("hold")])
    caller.send("/a", b"x")
    wait_until(server.requests, "the request arrives", 30)
    caller.abort()
    server.set_faults([])

    (request,) = wait_until(
        lambda: [request for request in server.requests() if request.is_undelivered], "the answer is refused", 30
    )
    assert request.status == 200


def test_a_request_that_breaks_off_has_no_effect(caller: Caller, server: EffectServer) -> None:
    """A caller that dies before it has sent all of the content has asked for nothing."""
    address = server.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=30) as connection:
        connection.sendall(b"POST /broken HTTP/1.1\r\nContent-Length: 5\r\n\r\nhalf")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""

    caller.post("/whole", b"x")

    assert [request.path for request in server.requests()] == ["/whole"]


def test_connections_are_served_side_by_side(server: EffectServer) -> None:
    """Requests of many connections wait for each other neither in order nor in number."""
    callers = [Caller(server) for _ in range(64)]
    server.set_faults([Fault("hold", times=64)])
    for number, each in enumerate(callers):
        each.send("/a", b"x", f"k-{number}")

    wait_until(lambda: len(server.requests()) == 64, "all arrive though none is answered", 30)
    server.set_faults([])

    assert {request.key for request in _finished(server, 64)} == {f"k-{number}" for number in range(64)}
    for each in callers:
        each.close()


def test_a_half_written_line_does_not_count(tmp_path: Path) -> None:
    """Reading a log while it is written sees whole lines only."""
    log = tmp_path / "log"
    line = {"order": 1, "event": "request", "id": 1, "at_ns": 5, "method": "GET", "path": "/", "key": "", "body": ""}
    log.write_text(json.dumps(line) + '\n{"order": 2, "ev', encoding="utf-8")

    (request,) = read_log(log).requests

    assert (request.order, request.received_ns, request.answered_ns) == (1, 5, None)


def test_a_log_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    """Before the first request there is nothing to read."""
    assert read_log(tmp_path / "none").requests == ()


def test_an_unknown_line_is_refused(tmp_path: Path) -> None:
    """A log of another format is not taken for an empty one."""
    (tmp_path / "log").write_text('{"event": "reply", "id": 1}\n', encoding="utf-8")

    with pytest.raises(ValueError, match="unknown kind 'reply'"):
        read_log(tmp_path / "log")


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    """A log that cannot be written is reported with the server's own words."""
    (tmp_path / "effects.jsonl").mkdir()

    with pytest.raises(HarnessError, match="IsADirectoryError"), EffectServer(tmp_path):
        pytest.fail("it must not start")


def test_what_was_seen_can_be_asked_by_key(server: EffectServer, caller: Caller) -> None:
    """A reconciler learns the answer to a request that came, also one that is still being answered, and that another never came."""
    server.set_faults([Fault("hold", "/a")])
    caller.send("/a", b"content", "k-1")
    wait_until(lambda: server.request_count() == 1, "the request is seen", 30)
    other = Caller(server)

    assert other.post(SEEN_PATH, b"k-1", "") == (200, answer(b"content"))
    assert other.post(SEEN_PATH, b"k-2", "") == (200, {})
    other.close()


def test_a_refused_request_was_not_seen(server: EffectServer, caller: Caller) -> None:
    """What is answered with an error had no effect."""
    server.set_faults([Fault("status", "/a")])
    caller.post("/a", b"content", "k-1")

    assert caller.post(SEEN_PATH, b"k-1", "") == (200, {})
