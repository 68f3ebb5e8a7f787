"""What the file names: an event, actions, a condition, a resource and a sub-agent."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from flink_agents_subagent import (
    BaseDeferredSubagentSetup,
    Event,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
    SubagentRequest,
    action,
)


class Sorted(Event):
    """A ticket that has found its desk."""

    text: str
    desk: str
    urgent: bool


class Draft(BaseModel):
    """What the writer answers."""

    text: str
    words: int


class Desks:
    """Knows by its words which desk a ticket is for."""

    def __init__(self, **words: list[str]) -> None:
        self._words = words

    def find(self, text: str) -> str:
        """Return the desk of a ticket."""
        return next((desk for desk, words in self._words.items() if any(word in text for word in words)), "general")


class Writer(BaseDeferredSubagentSetup):
    """A sub-agent that drafts answers; a real one asks a service, with the call id as its idempotency key."""

    def __init__(self, *, tone: str, **described: Any) -> None:
        super().__init__(**described)
        self._tone = tone

    async def call(self, request: SubagentRequest) -> Draft:
        """Draft an answer."""
        text = f"the {request.prompt['desk']} desk looks into it (a {self._tone} answer)"
        return Draft(text=text, words=len(text.split()))


def sort_ticket(event: InputEvent, ctx: RunnerContext) -> None:
    """Give a ticket to its desk."""
    text = event.input["text"].lower()
    desks = ctx.get_resource("desks", ResourceType.OBJECT)
    ctx.send_event(Sorted(text=text, desk=desks.find(text), urgent="urgent" in text))


def is_urgent(event: Sorted) -> bool:
    """Tell whether somebody waits for an answer."""
    return event.urgent


def file_ticket(event: Sorted, ctx: RunnerContext) -> None:
    """Tell the desk."""
    ctx.send_event(OutputEvent(output={"customer": ctx.key, "desk": event.desk}))


async def draft_answer(event: Sorted, ctx: RunnerContext) -> None:
    """Have an answer drafted."""
    writer = ctx.get_resource("writer", ResourceType.AGENT)
    result = await writer.submit(ctx, {"text": event.text, "desk": event.desk})
    answer = f"{ctx.config['greeting']}, {result.get_result(Draft).text}."
    ctx.send_event(OutputEvent(output={"customer": ctx.key, "answer": answer}))


@action(InputEvent)
def count_tickets(event: InputEvent, ctx: RunnerContext) -> None:  # noqa: ARG001 -- an action takes both
    """Count the tickets of a customer; the trigger stands here, so the file gives none."""
    count = ctx.short_term_memory.get("count", 0) + 1
    ctx.short_term_memory.set("count", count)
    ctx.send_event(OutputEvent(output={"customer": ctx.key, "tickets": count}))
