"""Results of sub-agents keep their types, whatever dies in between (V3)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Generic, TypeVar
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
    RunState,
    RunStatus,
    SubagentRequest,
)
from flink_agents_subagent.testing import simulate_crashes
from tests.unit.subagents.remote import Jobs

T = TypeVar("T")


class Colour(enum.Enum):
    """An enum."""

    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    """One that is a number too."""

    SMALL = 1
    LARGE = 2


@dataclass
class Address:
    """A dataclass."""

    street: str
    since: date | None = None
    colours: tuple[Colour, ...] = ()


class Money(BaseModel):
    """A model with types that JSON does not have."""

    amount: Decimal
    at: datetime
    reference: UUID
    term: timedelta = timedelta(0)


class Item(BaseModel):
    """A nested one."""

    name: str
    price: Money | None = None
    size: Size = Size.SMALL
    parts: list[Item] = []


@dataclass
class Order:
    """A dataclass of models, and of a union."""

    items: list[Item]
    to: Address | str
    notes: dict[str, int | None] = field(default_factory=dict)


class Page(BaseModel, Generic[T]):
    """A generic model."""

    content: list[T]
    total: int


ItemPage = Page[Item]

_moments = st.datetimes(timezones=st.just(timezone.utc))
_money = st.builds(
    Money,
    amount=st.decimals(min_value=-(10**6), max_value=10**6, places=2),
    at=_moments,
    reference=st.uuids(),
    term=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)),
)
_texts = st.text(max_size=8)
_items = st.deferred(
    lambda: st.builds(
        Item,
        name=_texts,
        price=st.none() | _money,
        size=st.sampled_from(Size),
        parts=st.lists(st.builds(Item, name=_texts), max_size=2),
    )
)
_addresses = st.builds(
    Address,
    street=_texts,
    since=st.none() | st.dates(),
    colours=st.lists(st.sampled_from(Colour), max_size=2).map(tuple),
)
_orders = st.builds(
    Order,
    items=st.lists(_items, max_size=2),
    to=_addresses | _texts,
    notes=st.dictionaries(_texts, st.none() | st.integers(), max_size=2),
)
TYPED: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Item, _items),
    (list[Item], st.lists(_items, max_size=3)),
    (dict[str, Item | Address], st.dictionaries(_texts, _items | _addresses, max_size=2)),
    (Order, _orders),
    (Order | Item | None, _orders | _items | st.none()),
    (list[Colour | int], st.lists(st.sampled_from(Colour) | st.integers(), max_size=3)),
    (datetime, _moments),
    (ItemPage, st.builds(ItemPage, content=st.lists(_items, max_size=2), total=st.integers())),
]
_typed = st.sampled_from(TYPED).flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1]))


class Deferred(BaseDeferredSubagentSetup):
    """Answers with a value, as it is."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    async def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        return self.value


class Asynchronous(Jobs):
    """The same in jobs."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    async def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Say that it is ready."""
        return RunStatus(RunState.COMPLETED, run="run")

    async def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Answer."""
        return self.value


def survives(setup: Any, result_type: Any, expected: Any) -> None:
    """Kill an action that asks for a typed result, at some points, and compare what it got each time."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        result = await ctx.get_resource("helper", ResourceType.AGENT).submit(ctx, 1)
        # A second call, so that there is a moment at which the first one comes from the journal.
        await ctx.get_resource("helper", ResourceType.AGENT).submit(ctx, 2)
        found = result.get_result(result_type)
        assert found == expected and type(found) is type(expected), (found, expected)
        ctx.send_event(OutputEvent(output=found))

    agent = Agent("typed").add_action("act", InputEvent, act).add_resource("helper", ResourceType.AGENT, setup)
    report = simulate_crashes(agent, [("k", 1)], seeds=2)

    assert report.crashes > 10 and report.differences == []
    assert report.result.values == [expected]


@pytest.mark.parametrize("setup", [Deferred, Asynchronous])
@settings(max_examples=15)
@given(typed=_typed)
def test_a_typed_result_is_the_same_before_and_after_a_failover(setup: Any, typed: tuple[Any, Any]) -> None:
    """Models, lists and unions of them, dataclasses, enums and times of Python come back as they were [V3, E3.5]."""
    result_type, value = typed

    survives(setup(value), result_type, value)


@settings(max_examples=15)
@given(typed=_typed)
def test_json_becomes_the_type_asked_for_before_and_after_a_failover(typed: tuple[Any, Any]) -> None:
    """What a service sends as JSON, in Python or in Java, is narrowed to the type each time alike [V3, B4]."""
    result_type, value = typed
    adapter = TypeAdapter(result_type)
    as_json = adapter.dump_python(value, mode="json")

    survives(Deferred(as_json), result_type, adapter.validate_python(as_json))
