"""Actions: what an author marks, and the checks that a marked function must pass. Must not know how events are routed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event, OutputEvent

__all__ = [
    "ActionDefinition",
    "action",
    "check_condition",
    "check_config",
    "check_events",
    "check_function",
    "trigger_of",
]

F = TypeVar("F", bound="Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any]")
Condition = Callable[[Any], bool]

_MARK = "__flink_agents_trigger__"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What `@action` keeps on a function: event types, condition, configuration."""

    events: tuple[type[Event], ...]
    where: Condition | None
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionDefinition:
    """An action as it was declared: checked, not yet compiled."""

    name: str
    function: Callable[..., Any]
    """Called as `function(event, ctx)`."""
    events: tuple[type[Event], ...]
    where: Condition | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what could only fail at the first event."""
        check_events(self.name, self.events)
        check_function(self.name, self.function)
        check_condition(self.name, self.where)
        check_config(self.name, self.config)

    @property
    def is_async(self) -> bool:
        """Whether the action is a coroutine function, which may suspend."""
        return inspect.iscoroutinefunction(_called(self.function))


def action(
    *events: type[Event], where: Condition | None = None, config: Mapping[str, Any] | None = None
) -> Callable[[F], F]:
    """Make a function or method of an `Agent` class an action.

    Guarantee: called once for each event of exactly one of the given types for which `where` is true (E1.2).
    Replay: `where` is asked again, so it must depend on the event alone.
    Thread: task thread. A `def` action runs in one go; an `async def` action may suspend (E2).

    Args:
        events: Event classes; a subclass of one of them does not trigger the action.
        where: Condition on the event, a plain function.
        config: JSON values, given to the action as `ctx.config`.

    Raises:
        DefinitionError: What is marked is no function, or events, condition or config cannot be used.
    """
    _check_use(events)
    given = {} if config is None else config

    def mark(function: F) -> F:
        target = getattr(function, "__func__", function)
        name = getattr(target, "__qualname__", repr(target))
        if not inspect.isroutine(target) and not hasattr(target, "func"):
            raise DefinitionError(
                f"@action marks functions and methods, and {name} is of type {type(target).__name__}; "
                "put it on a function, or give this to add_action"
            )
        if trigger_of(target) is not None:
            raise DefinitionError(f"{name} has two @action decorators; give all event classes to one: @action(A, B)")
        check_events(name, events)
        check_condition(name, where)
        check_config(name, given)
        try:
            setattr(target, _MARK, Trigger(events, where, dict(given)))
        except AttributeError as error:
            raise DefinitionError(f"{name} is built in and cannot be marked; give it to add_action") from error
        return function

    return mark


def trigger_of(function: Any) -> Trigger | None:
    """Return what `@action` kept on a function, a static method or a method; None when it is no action."""
    target = getattr(function, "__func__", function)
    found = getattr(target, _MARK, None)
    return found if isinstance(found, Trigger) else None


def check_events(name: str, events: Sequence[Any]) -> None:
    """Refuse what is no event that an action can listen to.

    Raises:
        DefinitionError: Names the action, what was given and what to give.
    """
    if not events:
        raise DefinitionError(f"action {name!r} has no event type; give at least one, as in InputEvent")
    for event in events:
        if not (isinstance(event, type) and issubclass(event, Event)):
            raise DefinitionError(
                f"action {name!r} listens to {event!r}, which is not a subclass of Event; give event classes, as in InputEvent"
            )
        if event is Event:
            raise DefinitionError(
                f"action {name!r} listens to Event itself; types match exactly, so name the subclasses"
            )
        if issubclass(event, OutputEvent):
            raise DefinitionError(
                f"action {name!r} listens to {event.__qualname__}, which leaves the operator and triggers nothing; "
                "send an event of your own to another action instead"
            )


def check_function(name: str, function: Any) -> None:
    """Refuse what cannot be called as an action.

    Raises:
        DefinitionError: Names the action, what was given and what to give.
    """
    if not callable(function):
        raise DefinitionError(f"action {name!r} is {function!r}, which cannot be called; give a function")
    if isinstance(function, type):
        raise DefinitionError(
            f"action {name!r} is the class {function.__qualname__}; give a function, or an instance that can be called"
        )
    called = _called(function)
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise DefinitionError(
            f"action {name!r} is a generator function ({_where(called)}); "
            "send events with ctx.send_event instead of yielding them"
        )
    if not _takes(function, 2):
        raise DefinitionError(
            f"action {name!r} has the signature {inspect.signature(function)} ({_where(called)}); "
            f"it is called with two arguments: (event, ctx){_hint(function)}"
        )


def check_condition(name: str, where: Any) -> None:
    """Refuse what cannot be asked about an event.

    Raises:
        DefinitionError: Names the action, what was given and what to give.
    """
    if where is None:
        return
    if not callable(where) or inspect.iscoroutinefunction(where) or inspect.isgeneratorfunction(where):
        raise DefinitionError(f"the condition of action {name!r} is {where!r}; give a plain function of the event")
    if not _takes(where, 1):
        raise DefinitionError(
            f"the condition of action {name!r} has the signature {inspect.signature(where)}; "
            "it is called with one argument: (event)"
        )


def check_config(name: str, config: Any) -> None:
    """Refuse what would not survive JSON.

    Raises:
        DefinitionError: Names the action, what was given and what to give.
    """
    if not isinstance(config, Mapping):
        raise DefinitionError(f"the config of action {name!r} is {config!r}; give a mapping of JSON values")
    try:
        same = json.loads(json.dumps(dict(config), allow_nan=False)) == dict(config)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"the config of action {name!r} holds what JSON cannot express: {error}") from error
    if not same:
        raise DefinitionError(
            f"the config of action {name!r} does not survive JSON: {dict(config)!r}; use text keys and lists"
        )


def _check_use(events: Sequence[Any]) -> None:
    """Refuse a decorator without events, whatever it is put on."""
    if len(events) == 1 and inspect.isroutine(events[0]):
        raise DefinitionError(
            f"@action on {events[0].__qualname__} has no parentheses; name the events that trigger it: @action(InputEvent)"
        )
    if len(events) == 1 and isinstance(events[0], list | tuple | set):
        raise DefinitionError(f"@action was given {events[0]!r}; give the classes one by one, as in @action(A, B)")
    if not events or not all(isinstance(event, type) for event in events):
        raise DefinitionError(f"@action needs event classes, as in @action(InputEvent); it was given {_shown(events)}")


def _hint(function: Any) -> str:
    """Say what is wrong when it is about `self`."""
    if inspect.ismethod(function):
        return "; a method is written (self, event, ctx)"
    has_self = next(iter(inspect.signature(function).parameters), "") == "self"
    return "; without an instance there is no self" if has_self else ""


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except ValueError:
        # Some built-in functions do not tell their signature.
        return True
    except TypeError:
        return False
    return True


def _called(function: Any) -> Any:
    """Return the function that Python runs: the object itself, or the `__call__` of an instance."""
    if inspect.isroutine(function) or hasattr(function, "func"):
        return function
    return getattr(type(function), "__call__", function)  # noqa: B004 -- the method itself, not whether there is one


def _where(function: Any) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(repr(value) for value in values) or "nothing"
