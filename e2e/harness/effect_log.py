"""Reads the log of an effect server. Owns the join of its lines to requests; draws no conclusions."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["Request", "read_effect_log"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it; times are `time.monotonic_ns()`."""

    order: int
    """Place of its arrival in the log."""
    received_ns: int
    method: str
    path: str
    key: str
    """Its Idempotency-Key."""
    body: str
    """SHA-256 of its content, in hex."""
    answered_ns: int | None = None
    """When its answer was about to be sent; None: it has not been."""
    status: int | None = None
    is_undelivered: bool = False
    """The caller was gone when the answer was sent."""


def read_effect_log(path: Path) -> list[Request]:
    """Return the requests in the order of their arrival; a line that is being written does not count yet."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    requests: dict[int, Request] = {}
    for line in text[: text.rfind("\n") + 1].splitlines():
        entry = json.loads(line)
        request = entry["id"]
        match entry["event"]:
            case "request":
                requests[request] = Request(
                    entry["order"], entry["at_ns"], entry["method"], entry["path"], entry["key"], entry["body"]
                )
            case "response":
                requests[request] = replace(requests[request], answered_ns=entry["at_ns"], status=entry["status"])
            case "undelivered":
                requests[request] = replace(requests[request], is_undelivered=True)
            case other:
                raise ValueError(f"{path} has a line of the unknown kind {other!r}")
    return list(requests.values())
