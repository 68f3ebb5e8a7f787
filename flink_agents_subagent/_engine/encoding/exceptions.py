"""How an exception is taken apart and rebuilt as the same class (E3.5). Knows no encoding.

An exception's class says nothing about how it was constructed: authors compute the message in `__init__` and pass that to
`Exception`, so that calling the class with `args` would compute it again. We therefore make the object without its
constructor, let the first built-in class among its bases initialise what that class keeps in C (`OSError`'s number,
`UnicodeDecodeError`'s position), and put the attributes back. Whether that gives the same exception is tried before
anything is recorded; what cannot be rebuilt is recorded by its type's name and message.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal

__all__ = ["Plan", "plan_of", "rebuild", "text_of"]

How = Literal["bare", "init"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of one exception."""

    how: How
    """`bare`: without the author's constructor; `init`: by calling the class."""
    args: tuple[Any, ...]
    state: dict[str, Any]
    message: str | None
    """The exception's text, when `args` do not tell it; needed when its class is gone."""


def plan_of(error: BaseException) -> Plan | None:
    """Return parts that rebuild the exception, or None when none do."""
    parts, state = _take_apart(error)
    text = text_of(error)
    message = None if text == str(Exception(*error.args)) else text
    ways: tuple[tuple[How, tuple[Any, ...]], ...] = (("bare", parts), ("bare", error.args), ("init", parts))
    for how, args in ways:
        if _gives_back(error, how, args, state):
            return Plan(how, args, state, message)
    return None


def rebuild(cls: type[BaseException], how: How, args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """Return the exception with these parts; raises whatever a constructor raises that does not fit."""
    if how == "init":
        error = cls(*args)
    else:
        error = cls.__new__(cls, *args)
        _built_in_base(cls).__init__(error, *args)
    for name, value in state.items():
        # Past a frozen exception's own `__setattr__`.
        object.__setattr__(error, name, value)
    return error


def _take_apart(error: BaseException) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return constructor arguments and attributes; `args` leaves out OSError's file name, `__dict__` ImportError's module."""
    state = dict(vars(error))
    reduced = error.__reduce__()
    if not isinstance(reduced, tuple) or len(reduced) < 2 or reduced[0] is not type(error):
        return error.args, state
    if len(reduced) > 2 and isinstance(reduced[2], dict):
        state.update(reduced[2])
    return tuple(reduced[1]), state


def _built_in_base(cls: type[BaseException]) -> Any:
    return next(base for base in cls.__mro__ if not isinstance(base.__dict__.get("__init__", 0), FunctionType | int))


def text_of(error: BaseException) -> str:
    """Return an exception's text, also of one whose class fails to give it."""
    try:
        return str(error)
    except Exception as broken:  # noqa: BLE001 - an author's `__str__` can fail in any way
        return f"(no text: {type(broken).__name__})"


def _gives_back(error: BaseException, how: How, args: tuple[Any, ...], state: dict[str, Any]) -> bool:
    try:
        twin = rebuild(type(error), how, args, state)
        return (
            type(twin) is type(error)
            and len(twin.args) == len(error.args)
            and all(map(_is_same, twin.args, error.args))
            and text_of(twin) == text_of(error)
            and vars(twin).keys() == vars(error).keys()
        )
    except Exception:  # noqa: BLE001 - an author's constructor or `__repr__` can fail in any way; the next way is tried
        return False


def _is_same(mine: object, theirs: object) -> bool:
    # A constructor that ran again computed its arguments again: the same text is another object.
    return mine is theirs or (type(mine) is type(theirs) and repr(mine) == repr(theirs))
