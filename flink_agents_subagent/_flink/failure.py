"""An exception as flat data, for the Java side to fail the task with. Owns the format."""

from __future__ import annotations

import json
import traceback

from flink_agents_subagent.errors import AgentError

__all__ = ["describe_failure"]

_LONGEST = 100_000
"""Characters of a text: a failure travels to the JobManager, and again with each status request."""


def describe_failure(error: BaseException) -> bytes:
    """Return code, type, message and traceback of an exception as ASCII JSON; never raises."""
    fields = {
        "code": error.code if isinstance(error, AgentError) else "python",
        "type": type(error).__qualname__,
        "message": _shorten(_message(error)),
        "traceback": _shorten(_traceback(error)),
    }
    return json.dumps(fields).encode("ascii")


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failed:  # noqa: BLE001 - an author's own __str__
        return f"(no message: its __str__ raised {type(failed).__qualname__})"


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception as failed:  # noqa: BLE001 - an author's own __str__ or __repr__
        return f"(no traceback: formatting raised {type(failed).__qualname__})"


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]}\n… {len(text) - _LONGEST} characters left out …\n{text[-half:]}"
