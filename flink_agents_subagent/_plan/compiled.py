"""What the engine runs: actions, routes, resources and by-value types of one agent. Owns no compilation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flink_agents_subagent.events import Event
from flink_agents_subagent.resources import ResourceType

__all__ = ["CompiledAction", "CompiledAgent", "Route"]


@dataclass(frozen=True, slots=True)
class CompiledAction:
    """An action, resolved."""

    name: str
    function: Callable[..., Any]
    """Called as `function(event, ctx)`."""
    is_async: bool
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """An action that an event type triggers, under an optional condition on the event's attributes."""

    action: CompiledAction
    condition: Callable[[Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class CompiledAgent:
    """One agent, ready to run."""

    name: str
    routes: Mapping[type[Event], tuple[Route, ...]]
    """By exact event type, in the order of declaration."""
    actions: Mapping[str, CompiledAction]
    resources: Mapping[tuple[str, ResourceType], Any] = field(default_factory=dict)
    """Opened resources."""
    types: Mapping[str, type[Any]] = field(default_factory=dict)
    """Types shipped by value, by `module:qualified name` (P9)."""
