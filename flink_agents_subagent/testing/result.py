"""What a local run returns. Owns plain data for asserts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LocalCall", "LocalOutput", "LocalResult"]


@dataclass(frozen=True, slots=True)
class LocalOutput:
    """One output, or one dead letter."""

    key: Any
    value: Any
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class LocalCall:
    """One function that was called durably: an attempt of a call, or its reconciler."""

    name: str
    """Name of the function, or of the sub-agent."""
    key: Any
    value: Any = None
    """What it returned; None when it raised, or was stopped."""
    error: BaseException | None = None
    is_cancelled: bool = False
    attempt: int = 1
    is_reconciler: bool = False


@dataclass(frozen=True, slots=True)
class LocalResult:
    """What inputs have caused."""

    outputs: list[LocalOutput] = field(default_factory=list)
    """In the order in which they left."""
    dead_letters: list[LocalOutput] = field(default_factory=list)
    """With `on-action-error: dead-letter`; the value says what failed and why."""
    calls: list[LocalCall] = field(default_factory=list)
    """In the order in which they started; those of `def` actions when they ended."""
    memory: Mapping[Any, Mapping[str, Any]] = field(default_factory=dict)
    """Short-term memory by key as the runs left it; objects as nested dicts."""
    metrics: Mapping[str, int] = field(default_factory=dict)
    """Counters by name."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """The event log, a dict for each line; empty unless the option `event-log` is set, to whatever place."""

    @property
    def values(self) -> list[Any]:
        """The values of the outputs."""
        return [output.value for output in self.outputs]

    def values_of(self, key: Any) -> list[Any]:
        """Return the values of one key's outputs."""
        return [output.value for output in self.outputs if output.key == key]
