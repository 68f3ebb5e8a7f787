from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from flink_agents_subagent import AgentError
from flink_agents_subagent.testing import ManualClock
from flink_agents_subagent.testing.virtual_loop import VirtualLoop


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    """A loop that is closed after the test."""
    loop = VirtualLoop(ManualClock())
    yield loop
    loop.dispose()


def _result(loop: VirtualLoop, coroutine: Coroutine[Any, Any, Any]) -> Any:
    results: list[Any] = []

    async def keep() -> None:
        results.append(await coroutine)

    loop.finish(keep())
    return results[0]


def test_sleeping_moves_the_clock(loop: VirtualLoop) -> None:
    """A day of sleep takes exactly a day of virtual time, and sleepers wake in order of time [E8.1]."""
    woken: list[tuple[str, float]] = []

    async def sleep(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append((name, round(loop.time() - started, 3)))

    async def sleep_all() -> None:
        await asyncio.gather(sleep("day", 86_400), sleep("second", 1), sleep("moment", 0.0004), sleep("none", 0))

    started = loop.time()
    loop.finish(sleep_all())

    assert woken == [("none", 0.0), ("moment", 0.001), ("second", 1.0), ("day", 86_400.0)]


def test_a_time_out_is_virtual(loop: VirtualLoop) -> None:
    """`wait_for` gives up at its virtual time [E8.1]."""

    async def give_up() -> str:
        try:
            await asyncio.wait_for(asyncio.sleep(100), 5)
        except asyncio.TimeoutError:
            return f"late at {loop.time() - started}"
        return "in time"

    started = loop.time()

    assert _result(loop, give_up()) == "late at 5.0"


def test_a_cancelled_timer_does_not_hold_the_clock(loop: VirtualLoop) -> None:
    """What was cancelled is no time to move to [E8.1]."""
    loop.call_later(10, lambda: None).cancel()
    loop.call_later(20, lambda: None)

    assert loop.next_timer_ms() == round(loop.time() * 1000) + 20_000


def test_a_thread_at_work_is_waited_for(loop: VirtualLoop) -> None:
    """A time-out around real work does not fire because nothing else happens meanwhile [E8.1]."""
    gate = threading.Event()

    async def work() -> str:
        asyncio.get_running_loop().call_soon(gate.set)
        return await asyncio.wait_for(asyncio.to_thread(lambda: "done" if gate.wait(30) else "stuck"), 3600)

    assert _result(loop, work()) == "done"
    assert not loop.waits_outside()


def test_a_socket_is_waited_for(loop: VirtualLoop) -> None:
    """What comes from outside the process is real [E8.1]."""

    async def talk() -> bytes:
        left, right = socket.socketpair()
        with left, right:
            reader, writer = await asyncio.open_connection(sock=left)
            sender = threading.Thread(target=right.sendall, args=(b"hello",))
            sender.start()
            data = await asyncio.wait_for(reader.readexactly(5), 3600)
            sender.join()
            writer.close()
            await writer.wait_closed()
            return data

    assert _result(loop, talk()) == b"hello"


def test_waiting_for_nothing_is_an_error(loop: VirtualLoop) -> None:
    """A coroutine that waits for something that nobody sets does not hang the test [E8.1]."""

    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AgentError, match="never comes"):
        loop.finish(wait())


def test_an_exception_comes_out(loop: VirtualLoop) -> None:
    """`finish` raises what the coroutine raises [E8.1]."""

    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        loop.finish(fail())


def test_a_loop_runs_inside_another_one() -> None:
    """A virtual loop may be driven from within a running loop, which is then the running one again [E8.1]."""

    async def outer() -> bool:
        inner = VirtualLoop(ManualClock())
        inner.finish(asyncio.sleep(1000))
        inner.dispose()
        return asyncio.get_running_loop() is not inner

    assert asyncio.run(outer())


def test_disposing_ends_what_runs() -> None:
    """Tasks are cancelled, one that holds on against it is left behind without a complaint [E8.1]."""
    seen: list[str] = []

    async def give_in() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            seen.append("gave in")

    async def hold_on() -> None:
        while True:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                seen.append("held on")

    loop = VirtualLoop(ManualClock())
    tasks = [loop.create_task(give_in()), loop.create_task(hold_on())]
    loop.settle()
    loop.dispose()

    assert sorted(seen) == ["gave in", "held on"]
    assert tasks[0].cancelled()
    assert loop.is_closed()
