"""Outcomes of calls as journal values, and back (E3.4, E3.5). Knows the codec; must not know when outcomes are recorded."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, Protocol, TypeAlias

from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.encoding.exceptions import text_of
from flink_agents_subagent._engine.encoding.framing import dump_json, load_json
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent.errors import DurableCallError, DurableTimeoutError, EncodingError

__all__ = ["CallText", "Delivered", "asked_pause_ms", "encode_attempt", "encode_error", "encode_value", "outcome_of"]

_PLAIN = frozenset({bool, int, str, bytes})


class CallText(Protocol):
    """A call as messages name it; the text is made only when one is needed."""

    @property
    def timeout_ms(self) -> int | None:
        """The call's time-out."""

    def describe(self) -> str:
        """Return the call's name."""


Delivered: TypeAlias = tuple[Any, BaseException | None]
"""An outcome as the action meets it: a value, or an exception."""


def encode_value(core: EngineCore, value: object, call: CallText) -> bytes:
    """Return the bytes of a call's value; a value that cannot be rebuilt stops the engine, with the call named."""
    try:
        return core.codec.encode(value)
    except EncodingError as error:
        core.fail(_about(call, error))


def encode_error(core: EngineCore, error: BaseException) -> bytes:
    """Return the bytes of a call's exception."""
    return core.codec.encode_error(_deliverable(error))


def encode_attempt(error: BaseException) -> bytes:
    """Return what the record of a failed attempt says."""
    told: dict[str, Any] = {"type": type(error).__qualname__, "message": text_of(error)}
    seconds = _retry_after(error)
    if 0 < seconds < math.inf:
        told["retry_after_ms"] = round(seconds * 1000)
    return dump_json(told)


def _retry_after(error: BaseException) -> float:
    try:
        asked = getattr(error, "retry_after", None)
    except Exception:  # noqa: BLE001 - an author's property can fail in any way, and then it asks for nothing
        return 0
    seconds = asked.total_seconds() if isinstance(asked, timedelta) else asked
    return seconds if isinstance(seconds, int | float) else 0


def asked_pause_ms(failed: Record) -> int:
    """Return how long the failure itself asked to wait, by its `retry_after` in seconds; 0 when it did not."""
    if b"retry_after_ms" not in failed.value:
        return 0
    asked: int = load_json(failed.value).get("retry_after_ms", 0)
    return asked


def outcome_of(core: EngineCore, record: Record, call: CallText) -> Delivered:
    """Return what a recorded outcome gives to the action: the same live and on replay.

    Replay: containers and exceptions are rebuilt from the record in the first run as well, so that neither what the function
    goes on to do with its result, nor a class that cannot be rebuilt, makes the first run differ from a later one.
    """
    if record.status == "timeout" and not record.value:
        return None, DurableTimeoutError(f"{call.describe()} did not finish within {call.timeout_ms} ms")
    try:
        if record.status != "error":
            is_plain = type(record.live) in _PLAIN or (type(record.live) is float and math.isfinite(record.live))
            return (record.live if is_plain else core.codec.decode(record.value)), None
        error = core.codec.decode_error(record.value)
    except EncodingError as unreadable:
        core.fail(_about(call, unreadable))
    if isinstance(record.live, BaseException):
        # Where it was raised helps whoever reads the job's log, and no code branches on it.
        error.__traceback__ = record.live.__traceback__
        error.__cause__ = record.live.__cause__
    return None, error


def _deliverable(error: BaseException) -> BaseException:
    """Return an exception that can be raised from an await without meaning something else there."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return DurableCallError(f"{type(error).__module__}.{type(error).__qualname__}", text_of(error))


def _about(call: CallText, error: EncodingError) -> EncodingError:
    named = EncodingError(f"{call.describe()}: {error}")
    named.__cause__ = error
    return named
