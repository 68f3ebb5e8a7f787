"""What the files of the tests name."""

from __future__ import annotations

import abc
from typing import Any

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    Event,
    InputEvent,
    OutputEvent,
    Resource,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentRequest,
    action,
)

NOTHING = None
ANSWER = 42


class Order(Event):
    """An event."""

    amount: int


def take(event: InputEvent, ctx: RunnerContext) -> None:
    """Make an order of an input."""
    ctx.send_event(Order(amount=event.input))


def is_large(event: Order) -> bool:
    """Be a condition."""
    return event.amount >= 10


async def review(event: Order, ctx: RunnerContext) -> None:
    """Have an order reviewed."""
    result = await ctx.get_resource("reviewer", ResourceType.AGENT).submit(ctx, event.amount)
    ctx.send_event(OutputEvent(output={"review": result.get_result(), **ctx.config}))


@action(Order, where=is_large, config={"tone": "kind", "limit": 1})
async def decorated_review(event: Order, ctx: RunnerContext) -> None:
    """Have an order reviewed, with a trigger of its own."""
    await review(event, ctx)


def one_argument(event: InputEvent) -> None:
    """Have too few arguments."""


class Rates(Resource):
    """A resource with arguments."""

    def __init__(self, *, base: str, digits: int = 2) -> None:
        self.base, self.digits = base, digits


class Reviewer(BaseDeferredSubagentSetup):
    """A sub-agent that hands arguments on to its base."""

    def __init__(self, *, factor: int, **described: Any) -> None:
        super().__init__(**described)
        self.factor = factor

    def call(self, request: SubagentRequest) -> Any:
        """Multiply."""
        return request.prompt * self.factor


class Simple(BaseDeferredSubagentSetup):
    """A sub-agent without a constructor of its own."""

    def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        return request.prompt


class Plain(BaseDeferredSubagentSetup):
    """A sub-agent without arguments."""

    def __init__(self) -> None:
        super().__init__()

    def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        return request.prompt


class Unfinished(BaseDeferredSubagentSetup):
    """A sub-agent that cannot be built."""

    @abc.abstractmethod
    def ask(self) -> None:
        """Be missing."""


class Decorated(Agent):
    """The agent of the files, by decorators."""

    def __init__(self) -> None:
        super().__init__("desk")
        self.add_resource("rates", ResourceType.OBJECT, ResourceDescriptor(clazz=Rates, base="EUR", digits=4))
        reviewer = ResourceDescriptor(clazz=Reviewer, factor=3, timeout=30, result_type=int)
        self.add_resource("reviewer", ResourceType.AGENT, reviewer)

    @action(InputEvent)
    @staticmethod
    def take(event: InputEvent, ctx: RunnerContext) -> None:
        """Make an order of an input."""
        take(event, ctx)

    @action(Order, where=is_large, config={"tone": "kind", "limit": 2})
    @staticmethod
    async def review(event: Order, ctx: RunnerContext) -> None:
        """Have an order reviewed."""
        await review(event, ctx)


class Desk(Agent):
    """An agent with methods."""

    @action(InputEvent)
    def at_desk(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Be an instance method."""

    @action(InputEvent)
    @staticmethod
    def anywhere(event: InputEvent, ctx: RunnerContext) -> None:
        """Be a static method."""
