"""What can happen in a process, and who watches it. Must not know how it happens."""

from __future__ import annotations

import enum

from flink_agents_subagent._engine.effects import Append, StartCall
from flink_agents_subagent.testing.progress import Start

__all__ = ["Activity", "Observer"]


class Activity(enum.Enum):
    """What can happen next in a process."""

    INPUT = "input"
    PERSIST = "append"
    ACKNOWLEDGE = "acknowledgement"
    START_CALL = "call start"
    END_CALL = "call end"
    TIMER = "timer"


class Observer:
    """Sees what a process does; the simulator's one kills it. This one lets it live."""

    def point(self, label: str) -> None:
        """Pass a point at which a process may die."""

    def starting(self, call: StartCall, life: int, run: Start) -> None:
        """Look at a call before it is made."""

    def finishing(self, run: Start) -> None:
        """Look at a run that has ended."""

    def appending(self, append: Append, life: int) -> None:
        """Look at a record before it is durable."""

    def acting(self, activity: Activity) -> None:
        """Look at what makes an output leave, or a run end."""
