"""Agents whose inputs say what to do: `{"key": …, "id": …, "do": [[verb, argument], …]}` as JSON text."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from flink_agents_subagent import Agent, Event, InputEvent, OutputEvent, ResourceType, RunnerContext, action
from tests.flink.board import ask, ask_async

__all__ = ["Delegating", "Direct", "Scripted"]


class ScriptedError(Exception):
    """Raised because the input says so."""


class Scripted(Agent):
    """Does what its inputs say, in an `async def` action."""

    def __init__(self, name: str = "scripted") -> None:
        super().__init__(name)

    @action(InputEvent)
    @staticmethod
    async def follow(event: InputEvent, ctx: RunnerContext) -> None:
        """Do one step after the other."""
        order = json.loads(event.input)
        for verb, argument in order["do"]:
            await _STEPS[verb](ctx, order, argument)


class Round(Event):
    """The next step of an order."""

    order: dict[str, Any]
    place: int


class Rounds(Agent):
    """Does each step in an execution of its own; its memory counts them."""

    @action(InputEvent)
    @staticmethod
    def begin(event: InputEvent, ctx: RunnerContext) -> None:
        """Start with the first step."""
        ctx.sensory_memory.set("done", [])
        ctx.send_event(Round(order=event.input, place=0))

    @action(Round)
    @staticmethod
    async def go_on(event: Round, ctx: RunnerContext) -> None:
        """Do one step, then the next."""
        steps = event.order["do"]
        if event.place == len(steps):
            _send(ctx, event.order, f"remembers {ctx.sensory_memory.get('done')}")
            return
        verb, argument = steps[event.place]
        await _STEPS[verb](ctx, event.order, argument)
        ctx.sensory_memory.set("done", [*ctx.sensory_memory.get("done"), argument])
        ctx.send_event(Round(order=event.order, place=event.place + 1))


class Delegating(Scripted):
    """The same as `Scripted`, with an agent inside for the verb `delegate`."""

    def __init__(self) -> None:
        super().__init__("delegating")
        self.add_resource("rounds", ResourceType.AGENT, Rounds())


class Direct(Agent):
    """Does what its inputs say, in a `def` action."""

    def __init__(self, name: str = "direct") -> None:
        super().__init__(name)

    @action(InputEvent)
    @staticmethod
    def follow(event: InputEvent, ctx: RunnerContext) -> None:
        """Do one step after the other."""
        order = json.loads(event.input)
        for verb, argument in order["do"]:
            match verb:
                case "emit":
                    _send(ctx, order, argument)
                case "block":
                    _send(ctx, order, f"{argument}={ctx.durable_execute(ask, argument)}")
                case "raise":
                    raise ScriptedError(argument)
                case "exit":
                    raise SystemExit(argument)
                case "huge":
                    _send(ctx, order, "x" * argument)
                case _:
                    raise ValueError(f"unknown verb {verb}")


async def _call(ctx: RunnerContext, order: dict[str, Any], name: str) -> None:
    _send(ctx, order, f"{name}={await ctx.durable_execute_async(ask_async, name)}")


async def _block(ctx: RunnerContext, order: dict[str, Any], name: str) -> None:
    _send(ctx, order, f"{name}={await ctx.durable_execute_async(ask, name)}")


async def _together(ctx: RunnerContext, order: dict[str, Any], names: list[str]) -> None:
    answers = await asyncio.gather(*(ctx.durable_execute_async(ask_async, name) for name in names))
    _send(ctx, order, ",".join(answers))


async def _call_for(ctx: RunnerContext, order: dict[str, Any], limit: list[Any]) -> None:
    name, seconds = limit
    try:
        await ctx.durable_execute_async(ask, name, timeout=seconds)
    except TimeoutError:
        _send(ctx, order, "timeout")


async def _sleep(ctx: RunnerContext, order: dict[str, Any], seconds: float) -> None:
    before = ctx.now()
    await asyncio.sleep(seconds)
    _send(ctx, order, "slept" if (ctx.now() - before).total_seconds() >= seconds else "woke early")


async def _emit(ctx: RunnerContext, order: dict[str, Any], text: str) -> None:
    _send(ctx, order, text)


async def _count(ctx: RunnerContext, order: dict[str, Any], _: Any) -> None:
    number = ctx.short_term_memory.get("count", 0) + 1
    ctx.short_term_memory.set("count", number)
    _send(ctx, order, f"count {number}")


async def _delegate(ctx: RunnerContext, order: dict[str, Any], steps: list[Any]) -> None:
    rounds = ctx.get_resource("rounds", ResourceType.AGENT)
    result = await rounds.submit(ctx, {"id": order["id"], "do": steps})
    for text in result.get_result():
        ctx.send_event(OutputEvent(output=f"child: {text}"))


async def _fail_if_told(ctx: RunnerContext, order: dict[str, Any], name: str) -> None:
    # Not durable on purpose: asked again by every replay.
    if ask(name) == "fail":
        raise ScriptedError(name)


async def _exit_in(ctx: RunnerContext, order: dict[str, Any], where: str) -> None:
    await ctx.durable_execute_async(_exit_blocking if where == "thread" else _exit_coroutine)


def _exit_blocking() -> None:
    raise SystemExit("left from a thread")


async def _exit_coroutine() -> None:
    raise SystemExit("left from the loop")


def _send(ctx: RunnerContext, order: dict[str, Any], text: str) -> None:
    ctx.send_event(OutputEvent(output=f"{ctx.key} {order['id']} {text}"))


_STEPS = {
    "call": _call,
    "block": _block,
    "together": _together,
    "call_for": _call_for,
    "sleep": _sleep,
    "emit": _emit,
    "count": _count,
    "delegate": _delegate,
    "fail_if_told": _fail_if_told,
    "exit_in": _exit_in,
}
