"""A job script as an author writes it; run as `__main__`, it prints its plan, a key selector and an input, as base64 lines."""

from __future__ import annotations

import base64
import dataclasses
import enum
import pickle
import sys
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    Event,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentRequest,
    action,
)
from flink_agents_subagent._flink.selector import dump_selector
from flink_agents_subagent._plan import dump_plan

T = TypeVar("T")


class Level(enum.Enum):
    """Used by the model only."""

    LOW = "low"
    HIGH = "high"


class Order(BaseModel):
    """An input that no action mentions."""

    user: str
    level: Level = Level.LOW


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A result."""

    text: str
    order: Order


class Pair(NamedTuple):
    """A data type that only the helper's global mentions."""

    left: int
    right: int


class Trail(NamedTuple):
    """Refers to a class below it."""

    verdicts: list[Later]
    by_user: dict[str, Verdict]


@dataclasses.dataclass
class Later:
    """Is defined after what refers to it."""

    verdict: Verdict | None = None


class Page(BaseModel, Generic[T]):
    """A generic model."""

    items: list[T]
    trail: Trail | None = None


class Paged(Event, Generic[T]):
    """A generic event."""

    page: Page[T]


class RefusedError(Exception):
    """An error of the script."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Reviewed(Event):
    """An event of the script."""

    verdict: Verdict


LIMIT = Pair(1, 2)


def helper(order: Order) -> Verdict:
    """Use a global and raise an error of the script."""
    if LIMIT.right < 2:
        raise RefusedError(LIMIT.left)
    return Verdict(f"seen {order.user}", order)


class Reviewer(BaseDeferredSubagentSetup):
    """A sub-agent of the script."""

    def __init__(self, prefix: str) -> None:
        super().__init__(description="reviews", result_type=Verdict)
        self.prefix = prefix

    async def call(self, request: SubagentRequest) -> Verdict:
        """Review."""
        verdict = helper(request.prompt)
        return Verdict(self.prefix + verdict.text, verdict.order)


class Script(Agent):
    """An agent of the script."""

    def __init__(self, suffix: str) -> None:
        super().__init__("script")
        self.suffix = suffix

    @action(InputEvent, where=lambda event: event.input.user != "nobody")
    @staticmethod
    def receive(event: InputEvent, ctx: RunnerContext) -> None:
        """Send an event of the script."""
        ctx.send_event(Reviewed(verdict=helper(event.input)))

    @action(Paged[int])
    @staticmethod
    def turn(event: Paged[int], ctx: RunnerContext) -> None:
        """Make another page."""
        ctx.send_event(Paged[int](page=Page[int](items=[*event.page.items, 1], trail=Trail([Later()], {}))))

    @action(Reviewed, config={"level": 3})
    async def finish(self, event: Reviewed, ctx: RunnerContext) -> None:
        """Use an attribute of the agent."""
        ctx.send_event(OutputEvent(output=event.verdict.text + self.suffix))


if __name__ == "__main__":
    agent = Script("!")
    agent.add_resource("built", ResourceType.AGENT, ResourceDescriptor(clazz=Reviewer, prefix="built "))
    agent.add_resource("pickled", ResourceType.AGENT, Reviewer("pickled "))
    selector = dump_selector(lambda order: order.user, str, "pickle")
    for part in (dump_plan(agent), selector, pickle.dumps(Order(user="ann", level=Level.HIGH), 3)):
        sys.stdout.write(base64.b64encode(part).decode() + "\n")
