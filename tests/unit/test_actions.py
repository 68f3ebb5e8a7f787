"""Actions: what may be one, and what the message says when it may not."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from flink_agents_subagent.actions import ActionDefinition, action, trigger_of
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.events import Event, InputEvent, OutputEvent


class Ping(Event):
    """An event."""


def handle(event: Any, ctx: Any) -> None:
    """Do nothing."""


async def handle_later(event: Any, ctx: Any) -> None:
    """Do nothing, later."""


def generate(event: Any, ctx: Any) -> Any:
    """Be a generator function."""
    yield event


async def generate_later(event: Any, ctx: Any) -> Any:
    """Be an asynchronous generator function."""
    yield event


class Handler:
    """A callable object."""

    async def __call__(self, event: Any, ctx: Any) -> None:
        """Do nothing."""

    def take(self, event: Any, ctx: Any) -> None:
        """Do nothing."""

    def take_less(self, event: Any) -> None:
        """Do nothing, with too little."""


def define(function: Any, events: Any = (Ping,), where: Any = None, config: Any = None) -> ActionDefinition:
    """Define an action named `act`."""
    return ActionDefinition("act", function, events, where, config or {})


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (handle, False),
        (handle_later, True),
        (lambda event, ctx: None, False),
        (functools.partial(handle_later), True),
        (functools.partial(lambda bound, event, ctx: None, 1), False),
        (lambda *args: None, False),
        (Handler(), True),
    ],
)
def test_functions_of_two_arguments_are_actions(function: Any, is_async: bool) -> None:
    """Any callable with two free arguments is an action, and its kind is recognised [E2.6]."""
    assert define(function).is_async is is_async


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (generate, r"action 'act' is a generator function \(.*test_actions.py:\d+\); send events with ctx.send_event"),
        (generate_later, "is a generator function"),
        (lambda event: None, r"has the signature \(event\) .* it is called with two arguments: \(event, ctx\)"),
        (lambda event, ctx, more: None, "called with two arguments"),
        (lambda event, *, ctx: None, "called with two arguments"),
        (3, "action 'act' is 3, which cannot be called"),
        (Handler, "action 'act' is the class Handler; give a function, or an instance that can be called"),
        (Handler.take, r"\(self, event.* two arguments: \(event, ctx\); without an instance there is no self"),
        (Handler().take_less, r"\(event.* two arguments: \(event, ctx\); a method is written \(self, event, ctx\)"),
    ],
)
def test_other_functions_are_refused_by_name(function: Any, says: str) -> None:
    """Generators, wrong arity and what cannot be called are refused when declared, with name and remedy [R2]."""
    with pytest.raises(DefinitionError, match=says):
        define(function)


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ((), "action 'act' has no event type"),
        ((int,), "listens to <class 'int'>, which is not a subclass of Event; give event classes, as in InputEvent"),
        (("Ping",), "listens to 'Ping', which is not a subclass of Event"),
        ((Event,), "types match exactly, so name the subclasses"),
        ((OutputEvent,), "leaves the operator and triggers nothing"),
    ],
)
def test_what_is_no_trigger_is_refused(events: Any, says: str) -> None:
    """Only proper event classes trigger; an output never does [E1.2]."""
    with pytest.raises(DefinitionError, match=says):
        define(handle, events)


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (1, "condition of action 'act' is 1"),
        (handle_later, "give a plain function of the event"),
        (handle, r"it is called with one argument: \(event\)"),
    ],
)
def test_conditions_take_the_event_alone(where: Any, says: str) -> None:
    """A condition is a plain function of one argument [E1.2]."""
    with pytest.raises(DefinitionError, match=says):
        define(handle, where=where)


@pytest.mark.parametrize("config", [{"a": object()}, {"a": float("nan")}, {"a": (1, 2)}, {1: "a"}])
def test_a_config_is_json(config: Any) -> None:
    """A config that JSON would change or refuse is refused at once, because YAML must give the same plan [R2]."""
    with pytest.raises(DefinitionError, match="config of action 'act'"):
        define(handle, config=config)


def test_the_decorator_marks_functions_and_static_methods() -> None:
    """The mark is found on the function itself, on a static method and on a bound method."""

    class Owner:
        @action(Ping, InputEvent, where=bool, config={"a": 1})
        def method(self, event: Any, ctx: Any) -> None: ...

        @action(Ping)
        @staticmethod
        def outer(event: Any, ctx: Any) -> None: ...

        @staticmethod
        @action(Ping)
        def inner(event: Any, ctx: Any) -> None: ...

    trigger = trigger_of(Owner().method)

    assert trigger is not None
    assert (trigger.events, trigger.where, trigger.config) == ((Ping, InputEvent), bool, {"a": 1})
    assert trigger_of(vars(Owner)["outer"]) == trigger_of(vars(Owner)["inner"]) != None  # noqa: E711
    assert trigger_of(handle) is None


@pytest.mark.parametrize(("given", "says"), [((), "given nothing"), ((3,), "given 3"), (("Ping",), "given 'Ping'")])
def test_a_bare_decorator_is_refused(given: Any, says: str) -> None:
    """`@action` without event classes says how to write it."""
    with pytest.raises(DefinitionError, match=f"@action needs event classes, as in .*{says}"):
        action(*given)


def test_two_decorators_are_refused() -> None:
    """A second decorator would hide the first one, so it is refused with the way to say it in one."""
    with pytest.raises(DefinitionError, match=r"has two @action decorators; give all event classes to one"):
        action(InputEvent)(action(Ping)(lambda event, ctx: None))


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: action(handle), r"@action on handle has no parentheses; name the events .*: @action\(InputEvent\)"),
        (lambda: action([Ping]), r"@action was given \[.*Ping.*\]; give the classes one by one, as in @action\(A, B\)"),
        (lambda: action(int)(fresh()), "action '.*fresh.*' listens to <class 'int'>"),
        (lambda: action(OutputEvent)(fresh()), "action '.*fresh.*' listens to OutputEvent, which leaves the operator"),
        (lambda: action(Ping, where="event.x > 3")(fresh()), "the condition of action '.*fresh.*' is 'event.x > 3'"),
        (lambda: action(Ping, config=[1])(fresh()), r"the config of action '.*fresh.*' is \[1\]; give a mapping"),
        (lambda: action(Ping, config={"a": object()})(fresh()), "the config of action '.*fresh.*' holds what JSON"),
        (lambda: action(Ping)(None), "@action marks functions and methods, and None is of type NoneType; put it on"),
        (
            lambda: action(Ping)(property(handle)),
            "is of type property; put it on a function, or give this to add_action",
        ),
        (lambda: action(Ping)(Handler), "and Handler is of type type; put it on a function"),
        (lambda: action(Ping)(len), "len is built in and cannot be marked; give it to add_action"),
    ],
)
def test_a_wrong_decorator_is_refused_where_it_stands(use: Any, says: str) -> None:
    """Not when the agent is compiled, so that the traceback leads to the line [R2]."""
    with pytest.raises(DefinitionError, match=says):
        use()


def fresh() -> Any:
    """Return a function that has no mark yet."""
    return lambda event, ctx: None
