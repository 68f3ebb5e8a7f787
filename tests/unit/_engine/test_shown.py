"""Values in an event log: bounded, redacted, whatever they are (E7.2)."""

from __future__ import annotations

import enum
import functools
import json
import uuid
from collections import UserDict, namedtuple
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from flink_agents_subagent import InputEvent
from flink_agents_subagent._engine.shown import MAX_CHARACTERS, shown, shown_call, shown_error

Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - the plain kind, too


class Colour(enum.Enum):
    """An enum."""

    RED = 1


@dataclass
class Login:
    """A data class."""

    user: str
    password: str


class Reply(BaseModel):
    """A model."""

    text: str
    signed_with: SecretStr


class Hostile:
    """Fails at whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        """Fail."""
        raise RuntimeError(name)

    def __repr__(self) -> str:
        """Fail."""
        raise RuntimeError("repr")


class UnreadableError(Exception):
    """An exception without a text."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("str")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        (float("nan"), "nan"),
        (1 << 5000, {"type": "int", "bits": 5001}),
        ("text \ud800 ü", "text \ud800 ü"),
        (b"12345", {"type": "bytes", "bytes": 5}),
        ([1, (2, {3})], [1, [2, [3]]]),
        ({"a": 1, 2: "b", (3,): "c"}, {"a": 1, "2": "b", "(tuple)": "c"}),
        (Pair(1, 2), {"left": 1, "right": 2}),
        (Colour.RED, "Colour.RED"),
        (Decimal("1.50"), "1.50"),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (datetime(2026, 1, 2, tzinfo=timezone.utc), "2026-01-02 00:00:00+00:00"),
        (Login("ada", "1234"), {"user": "ada", "password": "[redacted]"}),
        (Reply(text="yes", signed_with=SecretStr("x")), {"text": "yes", "signed_with": {"type": "SecretStr"}}),
        (InputEvent(input=[1]), {"input": [1]}),
        (ValueError("no"), {"type": "ValueError", "message": "no"}),
        (UnreadableError(), {"type": "UnreadableError", "message": "(no text: RuntimeError)"}),
        (UserDict(user="x"), {"type": "UserDict"}),
        (object, {"type": "type"}),
    ],
)
def test_every_value_is_shown_or_named(value: object, expected: object) -> None:
    """What JSON has no word for is named by its type; no method of its class is called [E7.2]."""
    rendered = shown(value)

    assert rendered == expected
    json.dumps(rendered, allow_nan=False)


def test_a_value_whose_class_fails_at_everything_is_named() -> None:
    """Nothing is asked of it [E7.2]."""
    assert shown([Hostile()]) == [{"type": "Hostile"}]


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Authorization",
        "X-Api-Key",
        "openaiApiKey",
        "OPENAI_API_KEY",
        "APIKey",
        "access_token",
        "headers",
        "pwd2",
        "aws.secret",
    ],
)
def test_what_names_itself_a_credential_is_not_shown(name: str) -> None:
    """However the name is written, and however deep it is [E7.2]."""
    assert shown({"a": [{name: "s3cret"}]}) == {"a": [{name: "[redacted]"}]}


@pytest.mark.parametrize("name", ["max_tokens", "input_tokens", "author", "keyboard", "secretary", "key"])
def test_names_that_only_look_alike_are_shown(name: str) -> None:
    """Counts of tokens are no tokens [E7.2]."""
    assert shown({name: 1}) == {name: 1}


def test_a_value_has_a_largest_size() -> None:
    """Long texts, many items, deep nesting and what refers to itself come to an end [E7.2]."""
    endless: list[Any] = []
    endless.append(endless)
    values = ["x" * 100_000, ["y" * 5000] * 9, [None] * 1_000_000, {n: n for n in range(1_000_000)}, endless]

    sizes = [len(json.dumps(shown(value))) for value in values]

    assert all(size <= 3 * MAX_CHARACTERS for size in sizes)
    assert shown("x" * 100_000) == "x" * (MAX_CHARACTERS - 8) + "..."
    assert len(shown_error(ValueError("x" * 100_000))) == MAX_CHARACTERS + 3


def _function(question: str, token: str, *rest: int, loud: bool = False) -> None:
    """Take arguments of every kind."""


class Service:
    """Has a method."""

    def ask(self, question: str, token: str) -> None:
        """Take arguments."""


@pytest.mark.parametrize("function", [_function, functools.partial(_function, "why"), Service().ask])
def test_arguments_have_the_names_of_parameters(function: Any) -> None:
    """So that a credential is known by its name when it was given by position [E7.2]."""
    given = ("s3cret",) if isinstance(function, functools.partial) else ("why", "s3cret")

    assert shown_call(function, given) == {"question": "why", "token": "[redacted]"}


def test_arguments_without_a_name_have_their_position() -> None:
    """Further ones, and those of functions that do not tell their parameters [E7.2]."""
    assert shown_call(_function, ("a", "b", 7), {"loud": True}) == {
        "question": "a",
        "token": "[redacted]",
        "2": 7,
        "loud": True,
    }
    assert shown_call(max, (1, 2)) == {"0": 1, "1": 2}
