"""A process that is to die for a test dies exactly where it was told to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flink_agents_subagent._engine.effects import CallReturned, StartCall
from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.calls import Calls
from flink_agents_subagent._flink.crash_points import ArmedCrash, CrashingCalls, calls_with_crash
from tests.unit._flink.fakes import FakeJava

_JAVA = Path(__file__).resolve().parents[3] / "java-bridge/src/main/java/io/github/flinkagents/subagent/operator"
_POINTS = ("before-call-start", "after-call-start", "before-call-end", "after-call-end")


class _Died(BaseException):
    """Stands for the death of the process."""


def _die(reason: str) -> None:
    raise _Died(reason)


def _crashing(java: FakeJava, crash_at: str) -> CrashingCalls:
    return CrashingCalls(java, BackgroundLoop(), ArmedCrash(crash_at, _die))


def _call(calls: Calls, number: int) -> None:
    calls.start(StartCall(call=number, function=lambda: number, is_coroutine=False, name="call"))
    calls.run_blocking(number)


@pytest.mark.parametrize(
    ("point", "is_started", "is_completed"),
    [
        ("before-call-start", False, False),
        ("after-call-start", True, False),
        ("before-call-end", True, False),
        ("after-call-end", True, True),
    ],
)
def test_the_process_dies_at_the_point_when_its_time_has_come(point: str, is_started: bool, is_completed: bool) -> None:
    """The second call passes the point, not the first, and what lies before the point has happened."""
    java = FakeJava()
    calls = _crashing(java, f"{point}:2")
    _call(calls, 1)

    with pytest.raises(_Died, match=f"crash point {point} passed 2 times"):
        _call(calls, 2)

    assert (2 in java.started) == is_started
    assert [call for call, _ in calls.take()] == ([1, 2] if is_completed else [1])


@pytest.mark.parametrize("crash_at", ["before-append:1", "after-open:1"])
def test_points_of_the_java_side_are_not_passed_here(crash_at: str) -> None:
    """A point that Java passes does nothing to calls."""
    calls = _crashing(FakeJava(), crash_at)

    _call(calls, 1)

    assert calls.take() == [(1, CallReturned(1))]


def test_the_death_is_that_of_a_kill() -> None:
    """The process ends by SIGKILL, without its clean-up, and says why on the error stream as it is."""
    code = (
        "import atexit; atexit.register(lambda: print('cleaned up', flush=True))\n"
        "from flink_agents_subagent._flink.background import BackgroundLoop\n"
        "from flink_agents_subagent._flink.crash_points import calls_with_crash\n"
        "calls_with_crash(None, BackgroundLoop(), 'before-call-start:1').start(None)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)  # noqa: S603 - our own module

    assert done.returncode == -signal.SIGKILL
    assert done.stderr == "crash point before-call-start passed 1 times\n"
    assert done.stdout == ""


def test_java_arms_the_points_of_this_side_by_the_same_names() -> None:
    """Each point that is passed here is one that the Java side knows."""
    source = (_JAVA / "CrashPoint.java").read_text(encoding="utf-8")

    for point in _POINTS:
        assert re.search(rf"\b{point.upper().replace('-', '_')}[,;]", source)
        assert isinstance(calls_with_crash(FakeJava(), BackgroundLoop(), f"{point}:1"), CrashingCalls)
