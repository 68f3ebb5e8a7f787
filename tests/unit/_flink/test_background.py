"""The background loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent.errors import BridgeError


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    """A loop that runs on a thread."""
    made = BackgroundLoop()
    thread = threading.Thread(target=made.run)
    thread.start()
    made.wait_until_running()
    yield made
    made.stop()
    thread.join()


def test_posted_steps_run_in_order_after_one_wake_up(background: BackgroundLoop) -> None:
    """Steps wait for `flush` and run in the order in which they were posted [PF5]."""
    done = threading.Event()
    order: list[int] = []
    for number in range(3):
        background.post(lambda number=number: order.append(number))
    background.post(done.set)
    assert not done.is_set()

    background.flush()

    assert done.wait(30)
    assert order == [0, 1, 2]


def test_a_step_posted_while_steps_run_is_not_lost(background: BackgroundLoop) -> None:
    """A burst that comes while the inbox is emptied gets a wake-up of its own [PF5]."""
    entered, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def linger() -> None:
        entered.set()
        go_on.wait(30)

    background.post(linger)
    background.flush()
    assert entered.wait(30)
    background.post(done.set)
    background.flush()
    go_on.set()

    assert done.wait(30)


def test_a_step_posted_behind_a_burst_needs_no_wake_up(
    background: BackgroundLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop looks for the next burst by itself, and is woken again once it has found none [PF2]."""
    loop = background._loop
    assert loop is not None
    wake_ups: list[object] = []
    wake = loop.call_soon_threadsafe
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda step: wake_ups.append(step) or wake(step))
    done, slept = threading.Event(), threading.Event()

    def burst() -> None:
        # On the loop's own thread, so that nothing comes between.
        background.post(done.set)
        background.flush()

    background.post(burst)
    background.flush()
    assert done.wait(30)
    assert len(wake_ups) == 1

    while background._is_awake:
        slept.wait(0.001)
    background.post(slept.set)
    background.flush()
    assert slept.wait(30)
    assert len(wake_ups) == 2


def test_a_step_that_fails_does_not_keep_later_ones(background: BackgroundLoop) -> None:
    """What is posted behind it runs all the same [PF5]."""
    done = threading.Event()

    def fail() -> None:
        raise ValueError("a step")

    loop = background._loop
    assert loop is not None
    loop.set_exception_handler(lambda _, context: None)

    background.post(fail)
    background.post(done.set)
    background.flush()

    assert done.wait(30)


def test_a_coroutine_is_run_and_waited_for(background: BackgroundLoop) -> None:
    """`run_and_wait` returns when the coroutine has ended, and raises what it raises [R3]."""
    ran: list[str] = []

    async def open_resource() -> None:
        await asyncio.sleep(0)
        ran.append("opened")
        raise ValueError("no connection")

    with pytest.raises(ValueError, match="no connection"):
        background.run_and_wait(open_resource())

    assert ran == ["opened"]


def test_a_loop_that_does_not_run_refuses_coroutines() -> None:
    """Without a running loop the caller is told, not left waiting [P5]."""
    ran: list[str] = []

    async def open_resource() -> None:
        ran.append("opened")

    with pytest.raises(BridgeError, match="does not run"):
        BackgroundLoop().run_and_wait(open_resource())

    assert ran == []


def test_a_loop_stopped_before_it_started_never_runs() -> None:
    """A thread that comes late to a closed operator returns at once [P3]."""
    background = BackgroundLoop()
    background.stop()

    background.run()

    with pytest.raises(BridgeError):
        background.run_and_wait(asyncio.sleep(0))


def test_stopping_cancels_what_runs() -> None:
    """Tasks are cancelled and may clean up before the loop closes [P3]."""
    background = BackgroundLoop()
    thread = threading.Thread(target=background.run)
    thread.start()
    background.wait_until_running()
    started, cleaned = threading.Event(), threading.Event()
    tasks: list[asyncio.Task[None]] = []

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    background.post(lambda: tasks.append(asyncio.get_running_loop().create_task(work())))
    background.flush()
    assert started.wait(30)

    background.stop()
    thread.join(30)

    assert cleaned.is_set()
    assert not thread.is_alive()
