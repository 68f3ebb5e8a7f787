"""The log of a server: what the outside world saw. Owns its format, writing and reading; draws no conclusions.

One JSON object a line, flushed before anything else happens. `order` counts the lines; `at_ns` is the machine's monotonic clock,
which all its processes share.

* `request`: id, method, path, key, body (SHA-256 of the content);
* `response`: id, status; written *before* the answer is sent, so that a request without it was never answered;
* `undelivered`: id; the caller was gone when the answer was sent;
* `started`, `cancelled`, `ended` (with the state): the key of a run.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

__all__ = ["LogWriter", "Request", "ServerLog", "read_log"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it; times are `time.monotonic_ns()`."""

    order: int
    """Place of its arrival in the log."""
    received_ns: int
    method: str
    path: str
    key: str
    """Its Idempotency-Key, or the key in its path."""
    body: str
    """SHA-256 of its content, in hex."""
    answered_ns: int | None = None
    """When its answer was about to be sent; None: it has not been."""
    status: int | None = None
    is_undelivered: bool = False
    """The caller was gone when the answer was sent."""


@dataclass(frozen=True, slots=True)
class ServerLog:
    """What a log says so far."""

    requests: tuple[Request, ...] = ()
    """In the order of their arrival."""
    started: Counter[str] = field(default_factory=Counter)
    """How many runs were started by key: more than one is the mistake that keys are there to prevent."""
    cancelled: Counter[str] = field(default_factory=Counter)
    """How often a run was told to stop, by key; telling it again is not counted."""
    ended: dict[str, str] = field(default_factory=dict)
    """The state in which runs ended, by key, as far as anybody has asked."""


class LogWriter:
    """Appends lines; thread-safe."""

    def __init__(self, path: Path) -> None:
        """Continue the log if there is one."""
        self._order = path.read_bytes().count(b"\n") if path.exists() else 0
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def request(self, *, method: str, path: str, key: str, body: str) -> int:
        """Note a request and return its id."""
        with self._lock:
            number = self._order + 1
            self._write("request", id=number, method=method, path=path, key=key, body=body)
            return number

    def response(self, request: int, status: int) -> None:
        """Note that an answer is about to be sent."""
        with self._lock:
            self._write("response", id=request, status=status)

    def undelivered(self, request: int) -> None:
        """Note that an answer reached nobody."""
        with self._lock:
            self._write("undelivered", id=request)

    def run(self, event: str, key: str, **fields: str) -> None:
        """Note what happened to a run: `started`, `cancelled` or `ended`."""
        with self._lock:
            self._write(event, key=key, **fields)

    def close(self) -> None:
        """Close the file; what comes later is an error."""
        with self._lock:
            self._file.close()

    def _write(self, event: str, **fields: Any) -> None:
        self._order += 1
        line = {"order": self._order, "event": event, "at_ns": time.monotonic_ns(), **fields}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def read_log(path: Path) -> ServerLog:
    """Return what a log says; a line that is being written does not count yet.

    Raises:
        ValueError: A line is of an unknown kind.
    """
    requests: dict[int, Request] = {}
    started: Counter[str] = Counter()
    cancelled: Counter[str] = Counter()
    ended: dict[str, str] = {}
    for entry in _lines(path):
        match entry["event"]:
            case "request":
                requests[entry["id"]] = Request(
                    entry["order"], entry["at_ns"], entry["method"], entry["path"], entry["key"], entry["body"]
                )
            case "response":
                answered = replace(requests[entry["id"]], answered_ns=entry["at_ns"], status=entry["status"])
                requests[entry["id"]] = answered
            case "undelivered":
                requests[entry["id"]] = replace(requests[entry["id"]], is_undelivered=True)
            case "started":
                started[entry["key"]] += 1
            case "cancelled":
                cancelled[entry["key"]] += 1
            case "ended":
                ended[entry["key"]] = entry["state"]
            case other:
                raise ValueError(f"{path} has a line of the unknown kind {other!r}")
    return ServerLog(tuple(requests.values()), started, cancelled, ended)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text[: text.rfind("\n") + 1].splitlines():
        yield json.loads(line)
