"""Handles and groups of handles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from flink_agents_subagent.errors import ContextMisuseError
from flink_agents_subagent.subagents.future import SubagentFuture, SubagentFutures
from flink_agents_subagent.subagents.result import SubagentResult
from tests.unit.subagents.fakes import FakeHandle

Program = Callable[[list[FakeHandle], list[SubagentFuture]], Coroutine[Any, Any, None]]


def run(program: Program) -> None:
    """Run a program with three open handles."""

    async def main() -> None:
        handles = [FakeHandle() for _ in range(3)]
        await program(handles, [SubagentFuture(handle, f"s{i}", f"c{i}") for i, handle in enumerate(handles)])

    asyncio.run(main())


def resolve(handle: FakeHandle, value: Any) -> None:
    """Let a call succeed."""
    handle.future.set_result(SubagentResult.ok(value))


def test_a_handle_gives_the_same_result_again() -> None:
    """Awaiting twice returns the same object, and `done` follows the delivery [I2]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        assert not futures[0].done()

        resolve(handles[0], 1)

        assert futures[0].done()
        assert await futures[0] is await futures[0]
        assert (futures[0].session_id, futures[0].call_id) == ("s0", "c0")

    run(program)


def test_await_all_keeps_insertion_order() -> None:
    """Results come in the order of insertion, whatever the order of completion [I3]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        waiting = asyncio.ensure_future(futures[0].combine(futures[1]).combine(futures[2]).await_all())
        for index in (2, 0, 1):
            await asyncio.sleep(0)
            resolve(handles[index], index)

        assert [result.result for result in await waiting] == [0, 1, 2]

    run(program)


def test_await_all_of_nothing_is_nothing() -> None:
    """An empty group is done at once [I3]."""
    assert asyncio.run(SubagentFutures().await_all()) == []


def test_await_any_returns_the_done_one_and_leaves_the_others() -> None:
    """The others stay open and can be awaited later, alone or in the group [I3]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        group = SubagentFutures(*futures)
        waiting = asyncio.ensure_future(group.await_any())
        await asyncio.sleep(0)
        resolve(handles[1], "first")

        assert await waiting is futures[1]
        assert not handles[0].future.cancelled()
        resolve(handles[0], "second")
        resolve(handles[2], "third")
        assert [result.result for result in await group.await_all()] == ["second", "first", "third"]
        assert group.done()

    run(program)


def test_await_any_of_several_done_ones_is_the_first_inserted() -> None:
    """Which one is returned does not depend on the time [I3]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        for handle in reversed(handles):
            resolve(handle, 0)

        assert await SubagentFutures(futures[2], futures[1]).await_any() is futures[2]

    run(program)


def test_await_any_of_nothing_is_refused() -> None:
    """An empty group would wait for ever [I3]."""
    with pytest.raises(ContextMisuseError, match="give it at least one handle"):
        asyncio.run(SubagentFutures().await_any())


@pytest.mark.parametrize("wait", [SubagentFutures.await_all, SubagentFutures.await_any])
def test_cancelling_the_waiting_task_cancels_the_calls(wait: Callable[[SubagentFutures], Any]) -> None:
    """A cancelled task cancels the handles that it waits for [E3.11]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        task = asyncio.ensure_future(wait(SubagentFutures(*futures)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert all(handle.future.cancelled() for handle in handles)

    run(program)


def test_cancel_cancels_every_handle_once() -> None:
    """The group cancels all of its handles; a second time there is nothing left to do [I6]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        group = SubagentFutures(*futures)

        assert group.cancel()
        assert not group.cancel()
        assert all(handle.future.cancelled() for handle in handles)
        with pytest.raises(asyncio.CancelledError):
            await futures[0]

    run(program)


def test_the_same_handle_counts_once() -> None:
    """Combining a handle with itself is one handle [I3]."""

    async def program(handles: list[FakeHandle], futures: list[SubagentFuture]) -> None:
        assert list(futures[0].combine(futures[0])) == [futures[0]]
        assert len(SubagentFutures(futures[0], futures[1]).combine(futures[0])) == 2

    run(program)
