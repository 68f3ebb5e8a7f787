from __future__ import annotations

import functools
import json
import math
import operator
from typing import Any

import pytest

from flink_agents_subagent._engine.identity import bound_arguments, derived_uuid, function_id
from flink_agents_subagent.errors import DefinitionError


def charge(account: str, amount: int = 0) -> None:
    """A module-level function."""


class Client:
    """Has every kind of method."""

    def send(self) -> None:
        """A method."""

    @classmethod
    def make(cls) -> None:
        """A class method."""

    @staticmethod
    def check() -> None:
        """A static method."""


class SpecialClient(Client):
    """Inherits its methods."""


class Callable_:  # noqa: N801 - near to the name that it stands for
    """A callable object without a name."""

    def __call__(self) -> None:
        """Do nothing."""


_HERE = __name__


@pytest.mark.parametrize(
    ("func", "expected"),
    [
        pytest.param(charge, f"{_HERE}:charge", id="function"),
        pytest.param(functools.partial(charge, "a"), f"{_HERE}:charge", id="partial"),
        pytest.param(functools.partial(functools.partial(charge, "a"), 1), f"{_HERE}:charge", id="nested-partial"),
        pytest.param(Client().send, f"{_HERE}:Client.send", id="method"),
        pytest.param(functools.partial(Client().send), f"{_HERE}:Client.send", id="partial-of-method"),
        pytest.param(SpecialClient().send, f"{_HERE}:SpecialClient.send", id="inherited-method"),
        pytest.param(SpecialClient.make, f"{_HERE}:SpecialClient.make", id="class-method"),
        pytest.param(Client.check, f"{_HERE}:Client.check", id="static-method"),
        pytest.param(Client, f"{_HERE}:Client", id="class"),
        pytest.param(Callable_().__call__, f"{_HERE}:Callable_.__call__", id="call-method"),
        pytest.param(len, "builtins:len", id="built-in"),
        pytest.param(math.sqrt, "math:sqrt", id="function-of-an-extension"),
        pytest.param(json.dumps, "json:dumps", id="library"),
        pytest.param("a".join, "builtins:str.join", id="built-in-method"),
        pytest.param(lambda: 0, f"{_HERE}:<lambda>", id="lambda"),
    ],
)
def test_a_callable_is_identified_by_name(func: Any, expected: str) -> None:
    """Functions, methods, partials and classes have the name that a later process finds again [E3.2]."""
    assert function_id(func) == expected


def test_a_local_function_is_identified_by_its_place() -> None:
    """A function inside another keeps the qualified name [E3.2]."""

    def local() -> None: ...

    assert function_id(local).endswith(":test_a_local_function_is_identified_by_its_place.<locals>.local")


@pytest.mark.parametrize(
    "func",
    [
        pytest.param(Callable_(), id="object"),
        pytest.param(functools.partial(Callable_()), id="partial-of-object"),
        pytest.param(operator.itemgetter(0), id="itemgetter"),
    ],
)
def test_a_callable_without_a_name_asks_for_an_id(func: Any) -> None:
    """A callable object is refused with the remedy [E3.2]."""
    with pytest.raises(DefinitionError, match="durable_id"):
        function_id(func)


def test_bound_arguments_count_as_arguments() -> None:
    """What a partial binds stands where the inner function gets it [E3.2]."""
    func = functools.partial(functools.partial(charge, "a", note="x"), 1, note="y")

    assert bound_arguments(func, (2,), {"other": 3}) == (("a", 1, 2), {"note": "y", "other": 3})
    assert bound_arguments(charge, ("a",), {}) == (("a",), {})


def test_a_derived_uuid_has_the_form_of_a_random_one() -> None:
    """Version and variant are those of a random UUID, and the ordinal changes it [E2.5]."""
    first, second = derived_uuid(b"d" * 16, 0), derived_uuid(b"d" * 16, 1)

    assert first.version == second.version == 4
    assert first != second
