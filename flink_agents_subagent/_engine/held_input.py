"""An input on its way to its run, and the event that it becomes. Data only."""

from __future__ import annotations

from typing import NamedTuple

from flink_agents_subagent.events import InputEvent

__all__ = ["HeldInput", "input_event"]

_validate = InputEvent.__pydantic_validator__.validate_python


class HeldInput(NamedTuple):
    """An input that waits for its run, or has one."""

    ticket: int
    raw: bytes
    timestamp: int | None


def input_event(value: object) -> InputEvent:
    """Return `InputEvent(input=value)`, in half the time: every input has one."""
    event: InputEvent = _validate({"input": value})
    return event
