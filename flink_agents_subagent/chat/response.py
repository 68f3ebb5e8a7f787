"""What a callable answers to a model: a value or a failure, and the text that the model reads (T14). Must not know who was called."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from flink_agents_subagent.subagents.normalization import normalize
from flink_agents_subagent.subagents.result import SubagentResult

__all__ = ["ToolResponse", "content_of"]


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The answer to one `ToolCall`.

    Replay: the same; a failure is recorded like a value.
    """

    is_success: bool
    result: Any = None
    """A JSON value; None in a failure."""
    error_message: str | None = None
    """Why there is no result, at most 4 KiB; None in a success."""

    @classmethod
    def success(cls, result: Any = None) -> ToolResponse:
        """Make an answer of a value.

        Raises:
            NotExpressibleError: JSON cannot express it; the message and `path` say where, as in `result.a[0]`.
        """
        return cls(is_success=True, result=normalize(result, "result"))

    @classmethod
    def error(cls, error: str | BaseException) -> ToolResponse:
        """Make a failure of a text or an exception; the model reads it."""
        return cls(is_success=False, error_message=SubagentResult.error(error).error_message)

    @property
    def text(self) -> str:
        """What the model reads."""
        return content_of(self.result) if self.is_success else f"Error: {self.error_message}"


def content_of(value: Any) -> str:
    """Return a JSON value as a model reads it: a text as it is, everything else as compact JSON with sorted keys (T14)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
