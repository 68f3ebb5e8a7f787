"""Faults on demand: what goes wrong with the next requests. Owns which request meets which fault; performs none."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Fault", "FaultQueue", "Met"]

FaultKind = Literal["status", "drop", "reset", "malformed", "cut", "delay", "hold", "fail", "expire"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with the next `times` requests, or runs, that it is for.

    * `status`: answered with `status`, and nothing is done;
    * `drop`: the connection is closed without an answer, and nothing is done;
    * `reset`: what was asked for is done, and the connection is closed without an answer;
    * `malformed`: it is done, and answered with a text that is no JSON;
    * `cut`: it is done, and the connection is closed in the middle of the answer;
    * `delay`: it is done, and answered `delay_ms` later. A run starts that much later;
    * `hold`: it is done, and answered when the faults are replaced. A run ends no earlier than that;
    * `fail`, `expire`: of a run only. It fails; or what became of it is forgotten once it has ended.
    """

    kind: FaultKind
    on: str = ""
    """Which requests. A job server: `submit`, `status`, `result`, `cancel`, `call`, or `run` for the run itself; an effect server: what
    the path begins with. Empty: all requests."""
    times: int = 1
    share: float = 1.0
    """The part of those requests that it hits, at random; the others do not count."""
    status: int = 503
    retry_after_s: int | None = None
    """With `status`: the answer's Retry-After."""
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Met:
    """What a request has met: perhaps a fault, and what releases it if that holds it."""

    fault: Fault | None
    released: threading.Event

    def is_of(self, *kinds: FaultKind) -> bool:
        """Tell whether the fault is one of these."""
        return self.fault is not None and self.fault.kind in kinds


class FaultQueue:
    """The faults to come, first come first served; thread-safe."""

    def __init__(self, seed: int = 0) -> None:
        """Draw the requests that a share hits from this seed."""
        self._lock = threading.Lock()
        # Not for secrets: tests are to be repeatable.
        self._random = random.Random(seed)  # noqa: S311
        self._left: list[tuple[Fault, int]] = []
        self._released = threading.Event()

    def replace(self, faults: Sequence[Fault]) -> None:
        """Forget the faults there were, release what they hold, and take new ones."""
        with self._lock:
            self._released.set()
            self._released = threading.Event()
            self._left = [(fault, fault.times) for fault in faults]

    def take(self, is_for: Callable[[Fault], bool]) -> Met:
        """Return the first fault for which `is_for` holds and that hits, if there is one."""
        with self._lock:
            for place, (fault, times) in enumerate(self._left):
                if is_for(fault) and (fault.share >= 1 or self._random.random() < fault.share):
                    self._left[place : place + 1] = [(fault, times - 1)] if times > 1 else []
                    return Met(fault, self._released)
            return Met(None, self._released)
