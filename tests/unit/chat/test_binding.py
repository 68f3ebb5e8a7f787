"""Inputs of a ReAct agent: what they become for the model, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field

from flink_agents_subagent import DefinitionError, NotExpressibleError, Record
from flink_agents_subagent.chat.binding import bind_input


class Item(BaseModel):
    code: str


class Order(BaseModel):
    name: str = Field(alias="product")
    items: list[Item] = []


@dataclass
class Ticket:
    product: str
    count: int = 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("How warm is it?", "How warm is it?"),
        ("", ""),
        ({"input": "How warm is it?"}, "How warm is it?"),
        (Record(("input",), ("How warm is it?",)), "How warm is it?"),
        ({"input": {"b": [1], "a": None}}, '{"a":null,"b":[1]}'),
        ({"input": 3}, "3"),
    ],
)
def test_without_a_prompt_the_input_key_is_the_user_message(value: Any, text: str) -> None:
    """A text is bound to the key; a mapping or row may hold nothing but it [A3]."""
    assert bind_input(value, "input").text == text


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"product": "lamp", "more": 1}, {"product": "lamp", "more": 1}),
        (Record(("product", "count"), ("lamp", 2)), {"product": "lamp", "count": 2}),
        (Order(product="lamp", items=[Item(code="x")]), {"product": "lamp", "items": [{"code": "x"}]}),
        (Ticket("lamp"), {"product": "lamp", "count": 2}),
    ],
)
def test_fields_fill_a_prompt(value: Any, fields: dict[str, Any]) -> None:
    """Of a dict, a row, a model (by its JSON names) or a dataclass; what the prompt does not name is left out [A3]."""
    assert bind_input(value, "input", ["product"]) == (fields, None)


@pytest.mark.parametrize("value", ["lamp", {"input": "lamp"}])
def test_a_prompt_may_name_the_input_key(value: Any) -> None:
    """Then the text fills it, and there is no message beside it [A3]."""
    assert bind_input(value, "input", ["input"]) == ({"input": "lamp"}, None)


def test_the_input_key_beside_a_prompt_is_the_user_message() -> None:
    """The other fields fill the prompt [A3]."""
    value = {"input": "How warm is it?", "tone": "kind"}

    assert bind_input(value, "input", ["tone"]) == (value, "How warm is it?")


@pytest.mark.parametrize(
    ("value", "placeholders", "message"),
    [
        (
            {"question": "x"},
            [],
            "there is no prompt that names the fields of the input; expected a text, or a mapping whose only key is 'input', not a dict with 'question'",
        ),
        (
            {"input": "x", "tone": "kind"},
            [],
            "there is no prompt that names the fields of the input; expected a text, or a mapping whose only key is 'input', not a dict with 'input', 'tone'",
        ),
        (
            {"product": "x"},
            ["product", "count"],
            "the input has nothing for 'count' of the prompt; expected a mapping, named row or object with 'product', 'count', not a dict with 'product'",
        ),
        (
            "lamp",
            ["product"],
            "the input has nothing for 'product' of the prompt; expected a mapping, named row or object with 'product', not a text",
        ),
        ({}, ["input"], "the input has nothing for 'input' of the prompt; expected a text, or a mapping, named row or"),
        (7, [], "the input is of type int; expected a text, or a mapping whose only key is 'input'"),
        ([("a", 1)], ["a"], "the input is of type list; expected a mapping, named row or object with 'a'"),
        ({1: "x"}, [], "the input is a mapping with keys that are no texts; expected a text, or"),
        (Record(None, ("x",)), ["a"], "the input is a row without names; expected a mapping, named row"),
    ],
)
def test_an_input_that_does_not_fit_is_refused(value: Any, placeholders: list[str], message: str) -> None:
    """The message says what was expected, and what came, without its content [A3]."""
    with pytest.raises(DefinitionError) as error:
        bind_input(value, "input", placeholders)

    assert str(error.value).startswith(message)


def test_a_request_that_json_cannot_express_is_refused_with_its_path() -> None:
    """Under the input key stands a text or JSON [A3, T9]."""
    with pytest.raises(NotExpressibleError) as error:
        bind_input({"input": {"when": float("nan")}}, "input")

    assert error.value.path == "input.when"
