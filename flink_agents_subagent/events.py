"""Events: the typed messages inside an agent. Owns the three base types; must not know how they are routed."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ["Event", "InputEvent", "OutputEvent"]


class Event(BaseModel):
    """A message between actions; subclass it with annotated fields to make your own.

    Guarantee: routed to every action whose trigger matches its exact type, in sending order (E1.2).
    Replay: a replayed run sends equal events in the same order; an event has no random id (E1.7).
    Thread: task thread only. `def` actions get the event itself; an `async def` action, which a restore may run again, gets a
        copy of its own if the event can be encoded (E1.3).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")


class InputEvent(Event):
    """Starts a run: one per input of the operator, its value in `input`."""

    input: Any


class OutputEvent(Event):
    """Leaves the operator with the timestamp of the run's input; triggers no action (E1.2)."""

    output: Any
