"""What crosses to and from Java: one rule for values and error texts, pinned for both languages."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent._flink.port import JavaHost
from flink_agents_subagent.errors import DurableCallError, NotExpressibleError
from flink_agents_subagent.subagents.normalization import normalize
from flink_agents_subagent.subagents.result import SubagentResult
from tests.conformance.vectors import vectors


class Tier(enum.Enum):
    STANDARD = "STANDARD"
    GOLD = "GOLD"


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Part(BaseModel):
    name: str
    pieces: int


class Offer(BaseModel):
    item: str | None
    amount: Decimal
    weight: float
    day: date
    tier: Tier
    parts: list[Part]
    extra: Any


@dataclasses.dataclass
class OfferRecord:
    """The same as a dataclass."""

    item: str | None
    amount: Decimal
    weight: float
    day: date
    tier: Tier
    parts: list[Part]
    extra: Any


OfferRecord.__qualname__ = "Offer"

_NAMES = {"<bytes>": "bytes", "<decimal>": "Decimal", "<date>": "date", "<set>": "set"}


def _offer(fields: dict[str, Any], kind: Callable[..., Any]) -> Any:
    parts = [Part(name=name, pieces=pieces) for name, pieces in fields["parts"]]
    return kind(
        item=fields["item"],
        amount=Decimal(fields["amount"]),
        weight=_made(fields["weight"], kind),
        day=date.fromisoformat(fields["day"]),
        tier=Tier(fields["tier"]),
        parts=parts,
        extra=_made(fields["extra"], kind),
    )


def _nested(levels: int) -> Any:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def _cycle(kind: str) -> Any:
    if kind == "map":
        members: dict[str, Any] = {}
        members["self"] = members
        return members
    items: list[Any] = []
    items.append(items)
    return items


def _power(given: dict[str, Any]) -> int:
    value = 2 ** int(given["$power"]) + int(given["$plus"])
    return -value if given.get("$negative") else value


def _twice(value: Any) -> Any:
    return [value, value]


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$float": float,
    "$int": int,
    "$point": lambda given: Point(*given),
    "$tier": Tier,
    "$bytes": bytes.fromhex,
    "$decimal": Decimal,
    "$date": date.fromisoformat,
    "$set": set,
    "$nested": _nested,
    "$cycle": _cycle,
    "$twice": _twice,
}


def _made(given: Any, kind: Callable[..., Any] = Offer) -> Any:
    """Make what a vector describes."""
    if isinstance(given, list):
        return [_made(item, kind) for item in given]
    if not isinstance(given, dict):
        return given
    match given:
        case {"$map": pairs}:
            return {_made(key, kind): _made(value, kind) for key, value in pairs}
        case {"$array": items}:
            return tuple(_made(item, kind) for item in items)
        case {"$offer": fields}:
            return _offer(fields, kind)
        case {"$power": _}:
            return _power(given)
    tag = next(iter(given), "")
    if tag.startswith("$"):
        return _TAGS[tag](given[tag])
    return {name: _made(value, kind) for name, value in given.items()}


# A point is a key of one of the cases.
Point.__hash__ = lambda self: hash((self.x, self.y))  # type: ignore[method-assign]


@pytest.mark.parametrize("kind", [Offer, OfferRecord])
@pytest.mark.parametrize(("given", "expected"), vectors("normalization"))
def test_a_value_is_expressed_or_refused_with_its_place(
    given: Any, expected: dict[str, Any], kind: Callable[..., Any]
) -> None:
    """Both languages let the same values through, in the same form, and name the same place of what they refuse [T9, T12, B4]."""
    value = _made(given, kind)

    if "error" not in expected:
        normal = normalize(value, "result")
        assert repr(normal) == repr(_made(expected["value"]))
        return
    message = expected["error"]
    for mark, name in _NAMES.items():
        message = message.replace(mark, name)
    with pytest.raises(NotExpressibleError) as caught:
        normalize(value, "result")
    assert (str(caught.value), caught.value.path) == (message, expected["path"])


@pytest.mark.parametrize(("given", "expected"), vectors("error-texts"))
def test_an_error_text_is_kept_alike(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Class and message, at most 4 KiB, cut in the same place in both languages [V2, B5, T12]."""
    message = given["message"] * given["times"]
    failure = message if given["type"] is None else DurableCallError(given["type"], message)

    text = SubagentResult.error(failure).error_message

    assert text == expected["start"] + expected["repeated"] * expected["times"] + expected["end"]


def test_the_methods_that_python_calls_are_pinned() -> None:
    """Names and arities of the Java host's methods are those that Java has, no more and no fewer [P6]."""
    methods = {
        name: len(inspect.signature(method).parameters) - 1
        for name, method in vars(JavaHost).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }

    assert methods == {case.values[0]["method"]: case.values[1]["arity"] for case in vectors("host-methods")}
