"""An HTTP server on the loopback interface that logs every request and meets faults on demand.

Owns connections, answers, faults of requests, and the life of a server process; must not know what is asked for, or by whom.
A request that breaks off within its content has no effect and is not logged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from flink_agents_subagent.testing.http.fault import Fault, FaultQueue
from flink_agents_subagent.testing.http.log import LogWriter

__all__ = ["Asked", "LoopbackServer", "Reply", "fault_list", "run_as_process", "server_arguments"]

FAULTS_PATH = "/_faults"
"""A PUT with a JSON list of faults replaces those there are."""
_MALFORMED = b"<html>not what was agreed"


class Asked(NamedTuple):
    """A request as a server understands it."""

    method: str
    path: str
    key: str
    body: bytes
    headers: Mapping[str, str] = {}


class Reply(NamedTuple):
    """An answer."""

    status: int
    content: Mapping[str, Any] | list[Any]
    headers: Mapping[str, str] = {}


class LoopbackServer(ThreadingHTTPServer, ABC):
    """A server of 127.0.0.1; one thread per connection, which it keeps alive."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, log: Path, port: int = 0, seed: int = 0) -> None:
        """Listen, at a free port if it is 0; `seed` draws the requests that a fault's share hits."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.log = LogWriter(log)
        self.faults = FaultQueue(seed)
        self.is_closed = False

    @abstractmethod
    def answer(self, asked: Asked) -> Reply:
        """Do what is asked for and return the answer; called by many threads."""

    @abstractmethod
    def is_for(self, fault: Fault, asked: Asked) -> bool:
        """Tell whether a fault may hit a request."""

    @abstractmethod
    def key_of(self, path: str) -> str:
        """Return the key that a path names, for requests without an Idempotency-Key; empty: none."""

    def check_fault(self, fault: Fault) -> None:
        """Refuse, with a `ValueError`, a fault that this server has no place for."""

    def replace_faults(self, faults: Sequence[Fault]) -> None:
        """Replace the faults to come, and release what earlier ones hold.

        Raises:
            ValueError: A fault has no place here; then nothing is replaced.
        """
        for fault in faults:
            self.check_fault(fault)
        self.faults.replace(faults)

    def server_close(self) -> None:
        """Stop listening, let go of what is held, and close the log."""
        super().server_close()
        self.is_closed = True
        self.faults.replace([])
        self.log.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report a fault of this server; that callers die, and that it closes meanwhile, is what it is made for."""
        if not self.is_closed and not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one small packet; waiting to fill it costs 40 ms.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: LoopbackServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the log of requests is the log."""

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if self.server.is_closed or len(body) < length:
            # Nobody listens any more; or the caller died between head and content: nothing was asked for.
            self.close_connection = True
        elif self.path == FAULTS_PATH:
            self._replace_faults(body)
        else:
            key = self.headers.get("Idempotency-Key") or self.server.key_of(self.path)
            self._serve_logged(Asked(self.command, self.path, key, body, dict(self.headers)))

    def _replace_faults(self, body: bytes) -> None:
        try:
            self.server.replace_faults([Fault(**entry) for entry in json.loads(body or b"[]")])
        except (TypeError, ValueError) as error:
            self._send(Reply(400, {"error": str(error)}))
        else:
            self._send(Reply(200, {}))

    def _serve_logged(self, asked: Asked) -> None:
        log = self.server.log
        digest = hashlib.sha256(asked.body).hexdigest()
        request = log.request(method=asked.method, path=asked.path, key=asked.key, body=digest)
        met = self.server.faults.take(lambda fault: self.server.is_for(fault, asked))
        if met.is_of("drop"):
            self.close_connection = True
            return
        reply = _refusal(met.fault) if met.fault is not None and met.is_of("status") else self.server.answer(asked)
        if met.is_of("hold"):
            met.released.wait()
        if met.fault is not None and met.is_of("delay"):
            time.sleep(met.fault.delay_ms / 1000)
        if met.is_of("reset") or self.server.is_closed:
            self.close_connection = True
            return
        log.response(request, reply.status)
        try:
            self._send(reply, _MALFORMED if met.is_of("malformed") else None, is_cut=met.is_of("cut"))
        except OSError:
            log.undelivered(request)
            self.close_connection = True

    def _send(self, reply: Reply, text: bytes | None = None, *, is_cut: bool = False) -> None:
        data = json.dumps(reply.content).encode() if text is None else text
        self.send_response(reply.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if is_cut else data)
        self.wfile.flush()
        self.close_connection = self.close_connection or is_cut


def _refusal(fault: Fault) -> Reply:
    headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
    return Reply(fault.status, {"error": "a fault was asked for"}, headers)


def fault_list(faults: Sequence[Fault]) -> bytes:
    """Return the content of a request that replaces the faults."""
    return json.dumps([asdict(fault) for fault in faults]).encode()


def server_arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser of what every server process is told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--log", type=Path, required=True, help="file of what the server saw and did")
    parser.add_argument("--announce", type=Path, required=True, help="file that gets the port when the server listens")
    return parser


def run_as_process(make: Callable[[], LoopbackServer], announce: Path) -> None:
    """Serve until the process is ended."""
    with make() as server:
        draft = announce.with_suffix(".draft")
        draft.write_text(str(server.server_port), encoding="ascii")
        draft.rename(announce)
        server.serve_forever()
