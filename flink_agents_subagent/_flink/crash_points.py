"""The points around calls at which a test may have the process die (decision 0011). Owns the dying; runs only when a point is armed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

from flink_agents_subagent._engine.effects import CallOutcome, StartCall
from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.calls import Calls
from flink_agents_subagent._flink.port import JavaHost

__all__ = ["ArmedCrash", "CrashingCalls", "calls_with_crash"]


class ArmedCrash:
    """The point at which the process dies, and when.

    Thread: any.
    """

    def __init__(self, crash_at: str, death: Callable[[str], None]) -> None:
        """Read a text such as `before-call-end:3`, which the Java side has checked; `death` is told why."""
        point, _, passages = crash_at.partition(":")
        self._point = point
        self._left = int(passages)
        self._reason = f"crash point {point} passed {passages} times"
        self._death = death
        self._lock = threading.Lock()

    def passed(self, point: str) -> None:
        """Die if this is the point and the time; points of the Java side are never passed here."""
        if point != self._point:
            return
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._death(self._reason)


class CrashingCalls(Calls):
    """Calls with the process dying around a start or an end."""

    __slots__ = ("_crash",)

    def __init__(self, java: JavaHost, background: BackgroundLoop, crash: ArmedCrash) -> None:
        super().__init__(java, background)
        self._crash = crash

    def start(self, effect: StartCall) -> None:
        """Start a call, or die before or after that."""
        self._crash.passed("before-call-start")
        super().start(effect)
        self._crash.passed("after-call-start")

    def _complete(self, call: int, outcome: CallOutcome) -> None:
        self._crash.passed("before-call-end")
        super()._complete(call, outcome)
        self._crash.passed("after-call-end")


def calls_with_crash(java: JavaHost, background: BackgroundLoop, crash_at: str) -> Calls:
    """Return calls during which the process dies at the armed point."""
    return CrashingCalls(java, background, ArmedCrash(crash_at, _die))


def _die(reason: str) -> None:
    # What the embedding puts into sys.stderr reaches a log through Java, which may be too late.
    os.write(2, f"{reason}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)
