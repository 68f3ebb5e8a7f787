"""What a sub-agent call gives back: a value or a failure, as data. Must not know who called or how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from flink_agents_subagent.errors import DurableCallError, NotExpressibleError, SubagentError

__all__ = ["MAX_ERROR_BYTES", "FailureReason", "SubagentResult"]

T = TypeVar("T")
FailureReason = Literal["error", "timeout", "cancelled", "limit"]

MAX_ERROR_BYTES = 4096


@dataclass(frozen=True, slots=True)
class SubagentResult:
    """The outcome of one sub-agent call.

    Guarantee: a failure of the sub-agent is a failed result, not an exception (V1).
    Replay: the same result, its value of the same type.
    """

    is_success: bool
    result: Any = None
    """The value as it is journalled; None in a failed result."""
    error_message: str | None = None
    """Type and message of the failure, at most 4 KiB (V2); None in a success."""
    reason: FailureReason | None = None
    """Why it failed, for code that decides by it; None in a success."""

    @classmethod
    def ok(cls, result: Any = None) -> SubagentResult:
        """Make a success."""
        return cls(is_success=True, result=result)

    @classmethod
    def error(cls, error: str | BaseException, reason: FailureReason = "error") -> SubagentResult:
        """Make a failed result from a text or an exception; long texts are cut to 4 KiB."""
        return cls(is_success=False, error_message=_capped(_text_of(error)), reason=reason)

    def get_result(self, result_type: type[T] | Any = None) -> T | Any:
        """Return the value, as `result_type` when one is given.

        Guarantee: the same before and after a failover (V3).

        Args:
            result_type: A pydantic model, dataclass, `list[T]`, `dict[str, T]`, union or plain type.

        Raises:
            SubagentError: The result is a failed one (V4).
            NotExpressibleError: The value does not fit the type; the message names where.
        """
        if not self.is_success:
            raise SubagentError(self.error_message)
        return self.result if result_type is None else _narrowed(self.result, result_type)


def _narrowed(value: Any, result_type: Any) -> Any:
    if isinstance(result_type, type) and type(value) is result_type:
        return value
    try:
        return TypeAdapter(result_type).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        path = "result" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        name = getattr(result_type, "__qualname__", str(result_type))
        raise NotExpressibleError(f"the sub-agent's result is no {name}: {path}: {first['msg']}", path) from error


def _text_of(error: str | BaseException) -> str:
    if isinstance(error, str):
        return error
    name, message = type(error).__name__, str(error)
    if isinstance(error, DurableCallError):
        # Stands for an exception of another process or language, whose own class it names.
        name, message = error.type_name, error.message
    return f"{name}: {message}" if message else name


def _capped(text: str) -> str:
    # A lone surrogate cannot be encoded; it stays readable as an escape.
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= MAX_ERROR_BYTES:
        return encoded.decode("utf-8")
    mark = "…"
    return encoded[: MAX_ERROR_BYTES - len(mark.encode())].decode("utf-8", "ignore") + mark


def as_result(value: Any) -> SubagentResult:
    """Return what an implementation returned as a result: itself, or a success that holds it."""
    return value if isinstance(value, SubagentResult) else SubagentResult.ok(value)
