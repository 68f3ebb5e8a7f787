"""Where a call stands beyond its present attempt: what came before it, what takes it back (decision 0007). Starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flink_agents_subagent.context import CallCourse

if TYPE_CHECKING:
    from flink_agents_subagent._engine.slot import Slot

__all__ = ["Course"]


class Course:
    """What has become of a call with a `CallCourse`."""

    __slots__ = (
        "agains",
        "begun_ms",
        "is_intended_here",
        "is_running",
        "is_sent",
        "is_undo_waiting",
        "spec",
        "undo",
        "undoes",
    )

    def __init__(self, spec: CallCourse) -> None:
        self.spec = spec
        self.agains = 0
        """How often its function asked to be run again."""
        self.begun_ms: int | None = None
        """The time of its intent; of a call that follows another, when that one was recorded."""
        self.is_sent = False
        """Whether it may have been sent: it was started, an earlier life may have started it, or it follows one that was."""
        self.is_intended_here = False
        """Whether this life appended its intent, so that the intent alone does not mean that it was sent."""
        self.is_running = False
        """Whether its function runs right now, which it may although the call was cancelled."""
        self.is_undo_waiting = False
        """Whether what takes it back begins as soon as the function has ended."""
        self.undo: Slot | None = None
        """What takes it back."""
        self.undoes: Course | None = None
        """What it takes back."""

    def take_intent(self, time_ms: int) -> None:
        """Take the delivery of its intent."""
        self.begun_ms = time_ms
        self.is_sent = self.is_sent or not self.is_intended_here
