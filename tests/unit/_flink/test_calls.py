"""Calls that run outside of the engine."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import CallRaised, CallReturned, StartCall
from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.calls import Calls
from tests.unit._flink.fakes import FakeJava


class _Desk:
    """Calls, their Java side and a running loop."""

    def __init__(self) -> None:
        self.java = FakeJava()
        self.background = BackgroundLoop()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        self.background.wait_until_running()
        self.calls = Calls(self.java, self.background)
        self.raised: list[BaseException] = []

    def _run(self) -> None:
        try:
            self.background.run()
        except SystemExit as error:
            self.raised.append(error)

    def start(self, call: int, function: Callable[[], Any], is_coroutine: bool = True) -> None:
        self.calls.start(StartCall(call, function, is_coroutine, "f"))
        self.calls.flush()


@pytest.fixture
def desk() -> Iterator[_Desk]:
    """A desk whose loop ends with the test."""
    made = _Desk()
    yield made
    made.background.stop()
    made.thread.join()
    # A task that nobody has asked for its exception says so when it is collected: here, and not in the middle of
    # another test, which may be compiling something that a traceback compiles, too.
    del made
    gc.collect()


async def _seven() -> int:
    return 7


def test_a_coroutine_call_completes_with_its_value(desk: _Desk) -> None:
    """The value comes back under the call's number, after a wake-up [E3.10]."""
    desk.start(1, _seven)
    desk.java.wait_woken()

    assert desk.calls.take() == [(1, CallReturned(7))]
    assert desk.calls.take() == []


def test_a_coroutine_call_completes_with_its_exception(desk: _Desk) -> None:
    """What the function raises is its outcome [E3.4]."""
    error = ValueError("no")

    async def fail() -> None:
        raise error

    desk.start(1, fail)
    desk.java.wait_woken()

    assert desk.calls.take() == [(1, CallRaised(error))]


def test_an_awaitable_that_is_no_coroutine_is_awaited(desk: _Desk) -> None:
    """A function may return any awaitable [E3.10]."""

    def make() -> Awaitable[int]:
        return _seven()

    desk.start(1, make)
    desk.java.wait_woken()

    assert desk.calls.take() == [(1, CallReturned(7))]


def test_many_completions_make_one_wake_up(desk: _Desk) -> None:
    """Calls that end before the task thread comes make one wake-up [PF5]."""
    for call in range(100):
        desk.calls.start(StartCall(call, _seven, True, "f"))
    done = threading.Event()
    desk.background.post(lambda: asyncio.get_running_loop().call_later(0, done.set))
    desk.calls.flush()
    assert done.wait(30)
    desk.java.wait_woken()

    assert desk.java.wakes == 1


def test_a_cancelled_coroutine_call_does_not_complete(desk: _Desk) -> None:
    """The coroutine is cancelled and nothing comes back [E3.11]."""
    started, cancelled = threading.Event(), threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    desk.start(1, wait)
    assert started.wait(30)
    desk.calls.cancel(1)
    desk.start(2, _seven)
    assert cancelled.wait(30)
    desk.java.wait_woken()

    assert desk.calls.take() == [(2, CallReturned(7))]


def test_a_coroutine_that_cancels_itself_completes(desk: _Desk) -> None:
    """`CancelledError` out of the author's own code is an outcome, or its action would wait for ever [E3.4]."""

    async def leave() -> None:
        raise asyncio.CancelledError

    desk.start(1, leave)
    desk.java.wait_woken()

    ((call, outcome),) = desk.calls.take()
    assert call == 1
    assert isinstance(outcome, CallRaised)
    assert isinstance(outcome.error, asyncio.CancelledError)


def test_a_system_exit_of_a_coroutine_fails_the_task(desk: _Desk) -> None:
    """`SystemExit` is reported and stops the loop; it is no outcome [P5]."""

    async def leave() -> None:
        raise SystemExit(3)

    desk.start(1, leave)
    desk.thread.join(30)

    assert [failure["type"] for failure in desk.java.failures] == ["SystemExit"]
    assert desk.calls.take() == []


def test_a_blocking_call_runs_where_java_runs_it(desk: _Desk) -> None:
    """The Java side is asked for a thread, which runs the function [E3.10]."""
    threads: list[int] = []
    desk.start(5, lambda: threads.append(threading.get_ident()), is_coroutine=False)
    assert desk.java.started == [5]

    worker = threading.Thread(target=desk.calls.run_blocking, args=(5,))
    worker.start()
    worker.join()

    assert threads == [worker.ident]
    assert desk.calls.take() == [(5, CallReturned(None))]


def test_a_blocking_call_cancelled_before_it_runs_is_not_run(desk: _Desk) -> None:
    """Its function is not called; its place becomes free [E3.11]."""
    ran: list[int] = []
    desk.start(5, lambda: ran.append(5), is_coroutine=False)
    desk.calls.cancel(5)

    desk.calls.run_blocking(5)

    assert ran == []
    assert [call for call, _ in desk.calls.take()] == [5]


def test_a_system_exit_of_a_blocking_call_passes(desk: _Desk) -> None:
    """The border reports it and fails the task [P5]."""

    def leave() -> None:
        raise SystemExit(3)

    desk.start(5, leave, is_coroutine=False)

    with pytest.raises(SystemExit):
        desk.calls.run_blocking(5)


def test_completions_after_closing_are_dropped(desk: _Desk) -> None:
    """A worker that returns to a closed operator wakes nobody [P3]."""
    go_on, done = threading.Event(), threading.Event()

    def wait() -> None:
        go_on.wait(30)

    desk.start(5, wait, is_coroutine=False)
    worker = threading.Thread(target=lambda: (desk.calls.run_blocking(5), done.set()))
    worker.start()
    desk.calls.close()
    go_on.set()
    worker.join()

    assert done.is_set()
    assert desk.java.wakes == 0
    assert desk.calls.take() == []
