"""Authors' values as a log shows them: plain, bounded, without what names itself a credential (E7.2).

Calls no method of an author's class but the `__str__` of exceptions. Whatever cannot be shown is named by its type, so that no value
can make a run fail.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import FunctionType, MethodType
from typing import Any, Final

from pydantic import BaseModel

from flink_agents_subagent._engine.encoding.exceptions import text_of

__all__ = ["MAX_CHARACTERS", "SECRET_NAMES", "shown", "shown_call", "shown_error"]

MAX_CHARACTERS: Final = 8192
"""Of all texts of one value together; what comes after is left out."""
_MAX_DEPTH: Final = 12
_MAX_BITS: Final = 1024
_ITEM: Final = 8
"""What each item counts besides its text, so that millions of empty ones come to an end too."""
_CUT: Final = "..."
REDACTED: Final = "[redacted]"

SECRET_NAMES: Final = (
    "access key",
    "api key",
    "api keys",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "headers",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "private key",
    "pwd",
    "secret",
    "secrets",
    "token",
)
"""Words; a field, argument or entry whose name holds one of them is not shown: `api_key`, `X-Api-Key` and `openaiApiKey` all hold "api key"."""
_SECRET = re.compile(r"(?<![a-z])(?:" + "|".join(SECRET_NAMES) + r")(?![a-z])")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")
_TEXTUAL = frozenset({date, datetime, time, timedelta, Decimal, uuid.UUID})


@functools.lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return _SECRET.search(_NO_WORD.sub(" ", _HUMP.sub(" ", name)).lower()) is not None


def shown(value: object) -> Any:
    """Return what JSON can express of a value: bounded, redacted. Never raises."""
    return _Rendering().render(value, 0)


def shown_error(error: BaseException) -> str:
    """Return an exception's message, bounded."""
    text = text_of(error)
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + _CUT


def shown_call(function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
    """Return the arguments of a call by name, those that `partial` binds included; an argument without a name has its position."""
    positional, named = tuple(args), dict(kwargs or {})
    while isinstance(function, functools.partial):
        positional = (*function.args, *positional)
        named = {**function.keywords, **named}
        function = function.func
    names = _parameters(function)
    given = {names[place] if place < len(names) else str(place): value for place, value in enumerate(positional)}
    return shown({**given, **named})


def _parameters(function: object) -> Sequence[str]:
    is_bound = type(function) is MethodType
    inner = function.__func__ if isinstance(function, MethodType) else function
    if type(inner) is not FunctionType:
        return ()
    code = inner.__code__
    return code.co_varnames[int(is_bound) : code.co_argcount]


class _Rendering:
    """One value on its way into a log."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MAX_CHARACTERS

    def render(self, value: object, depth: int) -> Any:
        """Return what JSON can express of it."""
        self._left -= _ITEM
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return self._text(value)  # type: ignore[arg-type]  # it is one
        if kind is int or kind is float:
            return _number(value)  # type: ignore[arg-type]  # it is one
        if kind in _TEXTUAL:
            return str(value)
        if depth >= _MAX_DEPTH or self._left <= 0:
            return _CUT
        try:
            return self._composite(value, kind, depth + 1)
        except Exception:  # noqa: BLE001 - a class of an author may fail at anything, and a log must not
            return _named(kind)

    def _composite(self, value: Any, kind: type[Any], depth: int) -> Any:
        if kind is dict:
            return self._fields(value.items(), depth)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._fields(zip(kind._fields, tuple.__iter__(value), strict=False), depth)
        if kind in (list, tuple, set, frozenset):
            return self._items(value, depth)
        return self._object(value, kind, depth)

    def _object(self, value: Any, kind: type[Any], depth: int) -> Any:
        if issubclass(kind, enum.Enum):
            return f"{kind.__qualname__}.{value._name_}"
        if issubclass(kind, BaseException):
            return {**_named(kind), "message": self._text(text_of(value))}
        if kind in (bytes, bytearray):
            return {**_named(kind), "bytes": len(value)}
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
            return self._fields(((name, object.__getattribute__(value, name)) for name in names), depth)
        if issubclass(kind, BaseModel):
            return self._fields(object.__getattribute__(value, "__dict__").items(), depth)
        return _named(kind)

    def _fields(self, fields: Any, depth: int) -> dict[str, Any]:
        rendered: dict[str, Any] = {}
        for name, value in fields:
            if self._left <= 0:
                rendered[_CUT] = _CUT
                break
            text = self._text(name if type(name) is str else _name_of(name))
            rendered[text] = REDACTED if _is_secret(text) else self.render(value, depth)
        return rendered

    def _items(self, items: Any, depth: int) -> list[Any]:
        rendered: list[Any] = []
        for item in items:
            if self._left <= 0:
                rendered.append(_CUT)
                break
            rendered.append(self.render(item, depth))
        return rendered

    def _text(self, text: str) -> str:
        left = max(0, self._left)
        self._left -= len(text)
        return text if len(text) <= left else text[:left] + _CUT


def _number(value: float) -> Any:
    if isinstance(value, int):
        # Python refuses to write very long ones.
        return value if value.bit_length() <= _MAX_BITS else {"type": "int", "bits": value.bit_length()}
    return value if math.isfinite(value) else str(value)


def _named(kind: type[Any]) -> dict[str, Any]:
    # Not as an attribute, which a metaclass can make anything of.
    return {"type": type.__dict__["__qualname__"].__get__(kind)}


def _name_of(name: object) -> str:
    """Return the key of an entry that is no text."""
    if type(name) in (bool, float, type(None)) or type(name) in _TEXTUAL:
        return str(name)
    if type(name) is int:
        return str(_number(name))
    return f"({type(name).__qualname__})"
