"""How an action ends: what it returns, what it leaves running, what it may raise."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Append, CancelCall, Emit
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import ActionError, ContextMisuseError
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Host, agent_of
from tests.unit._engine.programs import coroutine


async def _send(event: InputEvent, ctx: RunnerContext) -> None:
    ctx.send_event(OutputEvent(output=event.input))


def wrapped(event: InputEvent, ctx: RunnerContext) -> Any:
    """A wrapper that is not async."""
    return _send(event, ctx)


async def not_awaited(event: InputEvent, ctx: RunnerContext) -> Any:
    """A forgotten await."""
    return _send(event, ctx)


@pytest.mark.parametrize("action", [wrapped, not_awaited])
def test_an_action_that_returns_a_coroutine_fails(action: Any) -> None:
    """Nothing of it would happen, and nobody would know [E1.8]."""
    host = Host(agent_of(action))

    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert isinstance(host.failure.__cause__, ContextMisuseError)
    assert f"action '{action.__name__}' returned coroutine '_send', which nobody awaits" in str(host.failure)
    assert host.outputs == []


def test_what_else_an_action_returns_is_ignored() -> None:
    """A plain value means nothing [E1.2]."""

    def action(event: InputEvent, ctx: RunnerContext) -> int:
        ctx.send_event(OutputEvent(output=1))
        return 2

    host = Host(agent_of(action))
    host.input(1)

    assert host.outputs == [1]


def plain_exit(event: InputEvent, ctx: RunnerContext) -> None:
    """Leave a `def` action."""
    raise SystemExit(3)


async def async_exit(event: InputEvent, ctx: RunnerContext) -> None:
    """Leave an `async def` action."""
    raise SystemExit(3)


async def exit_in_a_task(event: InputEvent, ctx: RunnerContext) -> None:
    """Leave a task of an action."""

    async def leave() -> None:
        raise SystemExit(3)

    task = asyncio.create_task(leave())
    await asyncio.sleep(1)
    await task


@pytest.mark.parametrize("action", [plain_exit, async_exit, exit_in_a_task])
def test_sys_exit_is_a_failure_of_the_action(action: Any) -> None:
    """It ends neither the task nor the process, and can be dead-lettered as other exceptions can [E1.8]."""
    host = Host(agent_of(action))
    host.input(1)
    assert isinstance(host.failure, ActionError)
    assert f"action '{action.__name__}' of agent 'agent' failed" in str(host.failure)
    assert "SystemExit: 3" in str(host.failure)

    host = Host(agent_of(action), on_action_error="dead-letter")
    host.input(1)
    host.input(2)
    assert host.failure is None
    assert [letter.payload["error_type"] for letter in host.of(Emit)] == ["SystemExit"] * 2


def test_what_an_action_leaves_running_cannot_send_any_more(caplog: pytest.LogCaptureFixture) -> None:
    """The context is sealed before tasks and generators are ended; what they try is refused and logged [E2.7]."""
    ended: list[str] = []

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        async def background() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append("task")
                ctx.send_event(OutputEvent(output="from a task"))

        async def numbers() -> AsyncIterator[int]:
            try:
                yield 1
                yield 2
            finally:
                ended.append("generator")
                ctx.short_term_memory.set("from", "a generator")

        task = asyncio.create_task(background())
        async for _ in numbers():
            break
        await ctx.durable_execute_async(coroutine, 1)
        ended.append("action")
        assert not task.done()

    host = Host(agent_of(action))
    with caplog.at_level(logging.INFO):
        host.input(1)
        host.run_call()
        host.acknowledge()

    assert ended == ["action", "task", "generator"]
    assert host.failure is None
    assert host.outputs == []
    assert host.disk.memory == {}
    assert host.finished == [1]
    refused = [record.__dict__["call"] for record in caplog.records if record.message.startswith("refused a call")]
    assert refused == ["ctx.send_event", "ctx.short_term_memory"]


def test_calls_that_an_action_leaves_running_are_cancelled() -> None:
    """Also those that a task waits for: it cannot make others in their place [E2.7, E3.11]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        async def background() -> None:
            try:
                await ctx.durable_execute_async(coroutine, "background")
            except asyncio.CancelledError:
                await ctx.durable_execute_async(coroutine, "instead")

        task = asyncio.create_task(background())
        await ctx.durable_execute_async(coroutine, "awaited")
        assert not task.done()

    host = Host(agent_of(action))
    host.input(1)
    (awaited,) = [call for call, started in host.calls.items() if started.function.args == ("awaited",)]  # type: ignore[attr-defined]
    host.returns(1, awaited)
    host.acknowledge()

    assert len(host.of(CancelCall)) == 1
    assert len(host.of(Append)) == 1
    assert host.calls == {}
    assert host.finished == [1]
