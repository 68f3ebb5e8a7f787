from __future__ import annotations

import functools
import pickle
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from flink_agents_subagent import Agent, DefinitionError, InputEvent, ResourceType
from flink_agents_subagent._plan import compile_agent
from flink_agents_subagent.chat import FromConfig, FromMemory, Tool, tool
from flink_agents_subagent.chat.tool import ToolMisfit


class Item(BaseModel):
    name: str
    count: int = 1


@dataclass
class Point:
    x: float
    y: float


def order(
    item: Item,
    kind: Literal["fast", "slow"] = "slow",
    *,
    day: date | None = None,
    copy: bool = False,
    tenant: Annotated[str, FromConfig("tenant")],
) -> str:
    """Order an item.

    It is delivered on the day.

    Args:
        item: What to order.
        kind: How to deliver it,
            and how soon.
        copy: Whether a copy is sent.

    Returns:
        The number of the order.
    """
    return f"{item.name} {kind} {day} {copy} {tenant}"


def named(function: Any, name: str = "order") -> Tool:
    """Return a tool as it is once it is registered."""
    made = Tool.from_callable(function)
    made.bind_name(name)
    return made


def test_the_schema_comes_from_signature_hints_and_docstring() -> None:
    """Types, defaults, descriptions and nested models are told; injected arguments are not [C1]."""
    told = named(order).metadata

    assert (told.name, told.description) == ("order", "Order an item.\nIt is delivered on the day.")
    assert told.input_schema["required"] == ["item"]
    assert told.input_schema["additionalProperties"] is False
    properties = told.input_schema["properties"]
    assert list(properties) == ["item", "kind", "day", "copy"]
    assert properties["item"] == {"$ref": "#/$defs/Item", "description": "What to order."}
    assert properties["kind"]["enum"] == ["fast", "slow"]
    assert properties["kind"]["description"] == "How to deliver it,\nand how soon."
    assert properties["day"]["anyOf"] == [{"format": "date", "type": "string"}, {"type": "null"}]
    assert properties["copy"] == {"default": False, "description": "Whether a copy is sent.", "type": "boolean"}


def test_arguments_become_what_the_function_takes() -> None:
    """JSON values become models, dates and literals; what is left out has its default [C1]."""
    made = named(order)

    bound = made.bind({"item": {"name": "pen"}, "day": "2026-01-02"}, {"tenant": "acme"})

    assert bound["item"] == Item(name="pen") and bound["day"] == date(2026, 1, 2)
    assert made.call(bound) == "pen slow 2026-01-02 False acme"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "item: Field required"),
        ({"item": {"name": "pen", "count": "many"}}, "item.count: Input should be a valid integer"),
        ({"item": {"name": "pen"}, "color": "red"}, "color: Extra inputs are not permitted"),
        ({"item": {"name": "pen"}, "kind": "never"}, "kind: Input should be 'fast' or 'slow'"),
        ({"item": {"name": "pen"}, "tenant": "other"}, "tenant: Extra inputs are not permitted"),
    ],
)
def test_arguments_that_do_not_fit_are_told_apart(arguments: dict[str, Any], reason: str) -> None:
    """Each misfit is named by its path; an injected argument cannot be given by the model [C1]."""
    with pytest.raises(ToolMisfit, match=reason):
        named(order).bind(arguments, {"tenant": "acme"})


def test_an_injected_value_has_to_fit_as_well() -> None:
    """It is checked like what a model gives [C1]."""

    def find(customer: Annotated[int, FromMemory("customer")]) -> int:
        """Find."""
        return customer

    assert named(find).bind({}, {"customer": 7}) == {"customer": 7}
    with pytest.raises(ToolMisfit, match="valid integer"):
        named(find).bind({}, {"customer": "nobody"})


def test_a_description_in_the_type_wins_over_the_docstring() -> None:
    """What stands closest to the argument is meant [C1]."""

    def find(at: Annotated[Point, Field(description="Where.")]) -> None:
        """Find.

        Args:
            at: Somewhere.
        """

    (told,) = named(find).metadata.input_schema["properties"].values()

    assert told["description"] == "Where."


def test_a_tool_travels() -> None:
    """It is the same after pickling, although the model of its arguments is made again [C1]."""
    made = named(order)
    copy: Tool = pickle.loads(pickle.dumps(made))

    assert copy.metadata == made.metadata
    assert copy.bind({"item": {"name": "pen"}}, {"tenant": "a"}) == made.bind(
        {"item": {"name": "pen"}}, {"tenant": "a"}
    )


def undocumented(x: int) -> int:  # noqa: D103 - the test is about it
    return x


def untyped(x) -> int:
    """Do."""
    return x


def variadic(*xs: int) -> int:
    """Do."""
    return sum(xs)


def foreign(x: Tool) -> int:
    """Do."""
    return 1


def unknown(x: "Missing") -> int:  # type: ignore[name-defined]  # noqa: F821, UP037 - the test is about it
    """Do."""
    return 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (undocumented, "tool undocumented has no description"),
        (untyped, "argument 'x' of tool untyped has no type hint"),
        (variadic, r"tool variadic takes \*xs: .*by name"),
        (foreign, "the arguments of tool foreign have no JSON schema"),
        (unknown, "the signature of tool unknown cannot be read: name 'Missing' is not defined"),
        (Item, "a tool is made of a function"),
        (7, "a tool is made of a function, not 7"),
        (functools.partial(order), "a tool is made of a function, not functools.partial"),
    ],
)
def test_what_no_model_could_call_is_refused(function: Any, message: str) -> None:
    """Where the tool is made, with the name of the function and the remedy [C1]."""
    with pytest.raises(DefinitionError, match=message):
        Tool.from_callable(function)


def test_a_decorator_makes_methods_tools() -> None:
    """Static and bound methods are resources under their names, and can still be called [C1]."""

    class Clerk(Agent):
        rate = 3

        @tool
        @staticmethod
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        @tool(description="Multiply by the rate.", timeout=2)
        def scale(self, a: int) -> int:
            return a * self.rate

    clerk = Clerk()
    add, scale = (clerk.resources[name, ResourceType.TOOL] for name in ("add", "scale"))

    assert (add.call({"a": 1, "b": 2}), scale.call({"a": 2}), clerk.scale(5)) == (3, 6, 15)
    assert (scale.description, scale.timeout_ms) == ("Multiply by the rate.", 2000)
    assert clerk.resources["add", ResourceType.TOOL] is add
    with pytest.raises(DefinitionError, match="already has a resource 'add'"):
        clerk.add_resource("add", ResourceType.TOOL, add)


@pytest.mark.parametrize("function", [7, tool(undocumented)])
def test_a_method_is_one_tool(function: Any) -> None:
    """What is no function, and a second decorator, are refused [C1]."""
    with pytest.raises(DefinitionError):
        tool(function)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("subagent_order", "tool 'subagent_order' begins with 'subagent_'"),
        ("_subagent_order", "tool '_subagent_order' begins with '_subagent_'"),
        ("place order", "tool 'place order' has a name that providers refuse"),
        ("ordér", "providers refuse"),
        ("o" * 65, "providers refuse"),
    ],
)
def test_a_name_that_a_model_could_not_use_is_refused_when_the_plan_is_compiled(name: str, message: str) -> None:
    """Before anything runs, whether or not a model has the tool [T6]."""
    agent = Agent("shop").add_action("act", InputEvent, lambda event, ctx: None)
    agent.add_resource(name, ResourceType.TOOL, Tool.from_callable(order))

    with pytest.raises(DefinitionError, match=message):
        compile_agent(agent)
