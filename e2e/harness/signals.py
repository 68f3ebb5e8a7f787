"""Ctrl-C and `kill`: unwind `with` blocks, and never in the middle of a start or a clean-up. Owns signal handlers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["deferred_signals", "stop_on_signals"]

_TERMINATING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise `SystemExit(128 + number)`, so that they unwind as Ctrl-C does.

    Thread: main thread.
    """
    before = {number: signal.signal(number, _raise_exit) for number in _TERMINATING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Hold SIGINT, SIGTERM and SIGHUP back until the block ends; then the first of them takes its course.

    A blocked signal mask would do the same, but processes started in the block would inherit it for life.

    Thread: any; without effect beside the main thread, which alone receives signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)

    before = {}
    for number in (signal.SIGINT, *_TERMINATING):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])


def _raise_exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
