"""What a service says about a run: its state, and hints. Must not know who asks."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

__all__ = ["RunState", "RunStatus"]

_LONGEST_HINT_S = 86_400


class RunState(str, enum.Enum):
    """How far a run of a service has come (M2)."""

    NOT_STARTED = "NOT_STARTED"
    """The service does not know the run, or has accepted it and not begun. It is waited for; only what became of an interrupted
    submit is taken to say that nothing came of it, so that it is submitted again, unless `RunStatus.run` shows that the service
    knows the run."""
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    """It has a result to be fetched."""
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_terminal(self) -> bool:
        """Whether the state will not change any more."""
        return self in (RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED)

    @classmethod
    def _missing_(cls, value: object) -> None:
        known = ", ".join(cls.__members__)
        raise ValueError(f"{value!r} is no state of a run; map what the service says to one of {known}")


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The answer to a status probe.

    Guarantee: never journalled; only what it leads to is.
    """

    state: RunState
    reason: str | None = None
    """Why the run failed or was cancelled; becomes the error message of the result."""
    retry_after: timedelta | float | None = field(default=None, kw_only=True)
    """When the service wants to be asked again, in seconds or as a timedelta; obeyed in place of the poll interval."""
    run: Any = field(default=None, kw_only=True)
    """The run's reference, as `call_submit_request` would have returned it. Only that of a reconciler is used."""

    @property
    def retry_after_ms(self) -> int | None:
        """The hint in milliseconds, at most a day; None when there is none, or one that is not in the future."""
        hint = self.retry_after
        if hint is None:
            return None
        seconds = hint.total_seconds() if isinstance(hint, timedelta) else float(hint)
        return round(min(seconds, _LONGEST_HINT_S) * 1000) if seconds > 0 else None

    def __post_init__(self) -> None:
        """Refuse what is no state.

        Raises:
            ValueError: The text is no state.
        """
        object.__setattr__(self, "state", RunState(self.state))
