"""An HTTP server whose log tells what the outside world saw: every request, when it came, when it was answered.

Run as a script, see `effects`. Owns answers, latency, faults and the log; must not know who calls.

The log has one JSON object a line, flushed before anything else happens. A request that breaks
off within its content has no effect and is not logged.

* `request`: id, at_ns, method, path, key (the Idempotency-Key), body (SHA-256 of the content);
* `response`: id, at_ns, status; written *before* the answer is sent, so that a request without it was never answered;
* `undelivered`: id, at_ns; the caller was gone when the answer was sent.

`order` counts the lines, `at_ns` is the machine's monotonic clock, which all its processes share.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import threading
import time
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Literal

__all__ = ["EffectHttpServer", "Fault", "answer"]

FAULTS_PATH = "/_faults"
HEALTH_PATH = "/_health"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with the next `times` requests whose path begins with `path`.

    `status`: answered with `status`. `reset`: the connection is closed without an answer, after the effect.
    `delay`: answered `delay_ms` later. `hold`: answered when the faults are cleared.
    """

    kind: Literal["status", "reset", "delay", "hold"]
    path: str = "/"
    times: int = 1
    status: int = 503
    delay_ms: int = 0


def answer(body: bytes) -> dict[str, Any]:
    """Return the answer to a request: it depends on nothing but the content."""
    digest = hashlib.sha256(body).hexdigest()
    return {"confirmation": digest[:12], "number": int(digest[12:20], 16)}


class EffectHttpServer(ThreadingHTTPServer):
    """The server; one thread per connection, which it keeps alive."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, log: Path, latency_ms: tuple[int, int], port: int = 0) -> None:
        """Listen on the loopback interface; `latency_ms` are the least and the most that an answer takes."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.log = _Log(log)
        self.latency_ms = latency_ms
        self.faults = _Faults()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report a fault of this server; that callers die is what it is made for."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def latency_s(self, body: bytes) -> float:
        """Return the latency of a request, which depends on its content alone."""
        least, most = self.latency_ms
        return (least + hashlib.sha256(body).digest()[-1] / 255 * (most - least)) / 1000


class _Log:
    """Appends lines; thread-safe."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._order = 0
        self._requests = 0

    def request(self, **fields: str) -> int:
        with self._lock:
            self._requests += 1
            self._write("request", self._requests, fields)
            return self._requests

    def response(self, request: int, status: int) -> None:
        with self._lock:
            self._write("response", request, {"status": status})

    def undelivered(self, request: int) -> None:
        with self._lock:
            self._write("undelivered", request, {})

    def _write(self, event: str, request: int, fields: dict[str, Any]) -> None:
        self._order += 1
        line = {"order": self._order, "event": event, "id": request, "at_ns": time.monotonic_ns(), **fields}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


class _Faults:
    """The faults to come, first come first served; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: list[tuple[Fault, int]] = []
        self._released = threading.Event()

    def replace(self, faults: list[Fault]) -> None:
        """Forget the faults there were, release the requests that they hold, and take new ones."""
        with self._lock:
            self._released.set()
            self._released = threading.Event()
            self._left = [(fault, fault.times) for fault in faults]

    def take(self, path: str) -> tuple[Fault | None, threading.Event]:
        """Return the fault of a request, and the event that releases a held one."""
        with self._lock:
            for place, (fault, times) in enumerate(self._left):
                if path.startswith(fault.path):
                    self._left[place : place + 1] = [(fault, times - 1)] if times > 1 else []
                    return fault, self._released
            return None, self._released


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one small packet; waiting to fill it costs 40 ms.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: EffectHttpServer
    _control: ClassVar[tuple[str, ...]] = (FAULTS_PATH, HEALTH_PATH)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the log of effects is the log."""

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            # The caller died between head and content: nothing was asked for.
            self.close_connection = True
        elif self.path in self._control:
            self._serve_control(body)
        else:
            self._serve_effect(body)

    def _serve_control(self, body: bytes) -> None:
        if self.path == FAULTS_PATH:
            self.server.faults.replace([Fault(**entry) for entry in json.loads(body or b"[]")])
        self._send(200, {})

    def _serve_effect(self, body: bytes) -> None:
        log = self.server.log
        request = log.request(
            method=self.command,
            path=self.path,
            key=self.headers.get("Idempotency-Key", ""),
            body=hashlib.sha256(body).hexdigest(),
        )
        fault, released = self.server.faults.take(self.path)
        time.sleep(self.server.latency_s(body))
        if fault is not None and fault.kind == "hold":
            released.wait()
        if fault is not None and fault.kind == "delay":
            time.sleep(fault.delay_ms / 1000)
        if fault is not None and fault.kind == "reset":
            self.close_connection = True
            return
        status = fault.status if fault is not None and fault.kind == "status" else 200
        log.response(request, status)
        try:
            self._send(status, answer(body) if status == 200 else {"error": "a fault was asked for"})
        except OSError:
            log.undelivered(request)
            self.close_connection = True

    def _send(self, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def fault_list(faults: list[Fault]) -> bytes:
    """Return the content of a request that replaces the faults."""
    return json.dumps([asdict(fault) for fault in faults]).encode()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, required=True, help="file of effects")
    parser.add_argument("--announce", type=Path, required=True, help="file that gets the port when the server listens")
    parser.add_argument("--latency-ms", type=int, nargs=2, default=(0, 0), metavar=("LEAST", "MOST"))
    options = parser.parse_args()
    least, most = options.latency_ms
    with EffectHttpServer(options.log, (least, most)) as server:
        draft = options.announce.with_suffix(".draft")
        draft.write_text(str(server.server_port), encoding="ascii")
        draft.rename(options.announce)
        server.serve_forever()


if __name__ == "__main__":
    main()
