from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from e2e.harness.signals import deferred_signals, stop_on_signals


def test_sigterm_unwinds_as_an_exit() -> None:
    """Within stop_on_signals SIGTERM raises SystemExit with the status that a shell would report."""
    with pytest.raises(SystemExit) as raised, stop_on_signals():
        os.kill(os.getpid(), signal.SIGTERM)

    assert raised.value.code == 128 + signal.SIGTERM


def test_handlers_are_as_before_afterwards() -> None:
    """Leaving stop_on_signals puts the earlier handler back."""
    before = signal.getsignal(signal.SIGTERM)

    with stop_on_signals():
        assert signal.getsignal(signal.SIGTERM) is not before

    assert signal.getsignal(signal.SIGTERM) is before


def test_a_deferred_signal_comes_at_the_end() -> None:
    """A Ctrl-C in the block neither interrupts it nor is lost."""
    done = []

    def work() -> None:
        with deferred_signals():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("to the end")

    with pytest.raises(KeyboardInterrupt):
        work()

    assert done == ["to the end"]


def test_nested_blocks_hold_a_signal_until_the_outermost_ends() -> None:
    """A clean-up made of clean-ups is not interrupted between two of them."""
    done = []

    def work() -> None:
        with deferred_signals():
            with deferred_signals():
                os.kill(os.getpid(), signal.SIGINT)
            done.append("after the inner block")

    with pytest.raises(KeyboardInterrupt):
        work()

    assert done == ["after the inner block"]


def test_a_process_started_in_the_block_can_be_terminated() -> None:
    """A child does not inherit that signals are held back."""
    with deferred_signals():
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with child:
        child.terminate()

        assert child.wait(30) == -signal.SIGTERM


def test_other_threads_may_use_it() -> None:
    """In another thread, which cannot set handlers, the block simply runs."""
    done = []

    def work() -> None:
        with deferred_signals():
            done.append("ran")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert done == ["ran"]
