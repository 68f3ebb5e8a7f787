"""Results of sub-agents: failures as data, typed values."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from flink_agents_subagent.errors import NotExpressibleError, SubagentError
from flink_agents_subagent.subagents.result import MAX_ERROR_BYTES, SubagentResult


class Quote(BaseModel):
    """A typed result."""

    price: float
    tags: list[str] = []


@dataclass
class Pair:
    """Another one."""

    left: int
    right: Quote


def test_a_success_holds_its_value() -> None:
    """`ok` keeps the value as it is and has no error [V1]."""
    result = SubagentResult.ok({"price": 1.5})

    assert (result.is_success, result.result, result.error_message, result.reason) == (True, {"price": 1.5}, None, None)
    assert result.get_result() == {"price": 1.5}


def test_a_failure_holds_type_and_message() -> None:
    """`error` takes an exception or a text, and a reason for code to decide by [V1, V2]."""
    raised = SubagentResult.error(KeyError("a"))
    timed_out = SubagentResult.error("too late", "timeout")

    assert (raised.is_success, raised.error_message, raised.reason) == (False, "KeyError: 'a'", "error")
    assert (timed_out.error_message, timed_out.reason) == ("too late", "timeout")


@pytest.mark.parametrize("letter", ["a", "é", "𝄞", "\udc80"])
def test_long_errors_are_cut_between_letters(letter: str) -> None:
    """At most 4 KiB of text are kept, never half a character, and the cut shows [V2]."""
    message = SubagentResult.error(letter * 5000).error_message

    assert message is not None
    assert MAX_ERROR_BYTES - 8 < len(message.encode("utf-8")) <= MAX_ERROR_BYTES
    assert message.endswith("…")


@pytest.mark.parametrize(
    ("value", "result_type", "expected"),
    [
        ({"price": 2}, Quote, Quote(price=2)),
        (Quote(price=2), Quote, Quote(price=2)),
        ({"left": 1, "right": {"price": 2}}, Pair, Pair(1, Quote(price=2))),
        ([{"price": 2}], list[Quote], [Quote(price=2)]),
        ({"a": {"price": 2}}, dict[str, Quote], {"a": Quote(price=2)}),
        ("x", Quote | str, "x"),
        (3, int, 3),
    ],
)
def test_a_value_becomes_the_type_asked_for(value: object, result_type: object, expected: object) -> None:
    """Models, dataclasses, containers and unions are made of what is journalled [V3]."""
    found = SubagentResult.ok(value).get_result(result_type)

    assert found == expected
    assert type(found) is type(expected)


def test_a_value_that_does_not_fit_names_the_place() -> None:
    """The error carries the path to the first misfit [V3]."""
    with pytest.raises(NotExpressibleError, match=r"no Quote: result\.tags\[1\]: ") as caught:
        SubagentResult.ok({"price": 1, "tags": ["a", 2]}).get_result(Quote)

    assert caught.value.path == "result.tags[1]"


def test_a_failed_result_raises_its_message() -> None:
    """Asking a failure for its value raises what failed [V4]."""
    with pytest.raises(SubagentError, match=r"^ValueError: no$"):
        SubagentResult.error(ValueError("no")).get_result(int)
