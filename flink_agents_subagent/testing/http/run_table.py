"""The runs of a job server: what was asked for, and how far it is. Owns their life; knows no HTTP.

No thread works on a run. Its state follows from the time; its work is done when somebody asks for the first time after its end.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flink_agents_subagent.testing.http.fault import Met

__all__ = ["ForgottenError", "KeyReusedError", "Run", "RunRequest", "RunState", "RunTable", "Work"]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a run is given to work on."""

    prompt: Any
    session_id: str
    key: str


Work = Callable[[RunRequest], Any]
"""Makes the result of a run, which JSON can express; an exception makes it a failed one."""


class RunState(NamedTuple):
    """How far a run is; `reason` says why it failed, `result` is there once it is completed."""

    state: str
    reason: str | None = None
    result: Any = None

    @property
    def is_terminal(self) -> bool:
        """Whether it stays like this."""
        return self.state in ("COMPLETED", "FAILED", "CANCELLED")


class KeyReusedError(Exception):
    """A key was used for something else before."""


class ForgottenError(Exception):
    """What became of a run is not known any more."""


@dataclass
class Run:
    """One run, and what it has met."""

    request: RunRequest
    digest: str
    starts_ns: int
    ends_ns: int
    met: Met
    end: RunState | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the work is done."""


class RunTable:
    """All runs by key; thread-safe.

    Guarantee: one run per key, whose work is done once at most. A key that was cancelled before its run came never gets one.
    """

    def __init__(self, work: Work, now_ns: Callable[[], int], note: Callable[..., None]) -> None:
        """Do `work`; `note` is told `started`, `cancelled` or `ended`, and the key."""
        self._work = work
        self._now_ns = now_ns
        self._note = note
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._refused: set[str] = set()

    def start(self, request: RunRequest, body: bytes, duration_ms: float, meet: Callable[[], Met]) -> bool:
        """Start a run, unless its key has one; tell whether it was started.

        Args:
            request: What to work on.
            body: The content that the request came with; another one for the same key is a mistake.
            duration_ms: How long it takes.
            meet: Gives what a run that is started meets.

        Raises:
            KeyReusedError: The key was used with another content.
        """
        digest = hashlib.sha256(body).hexdigest()
        with self._lock:
            known = self._runs.get(request.key)
            if known is not None:
                if known.digest != digest:
                    raise KeyReusedError(f"the key {request.key!r} was used with another content before")
                return False
            if request.key in self._refused:
                return False
            met = meet()
            late_ms = met.fault.delay_ms if met.fault is not None and met.is_of("delay") else 0
            starts_ns = self._now_ns() + late_ms * 1_000_000
            ends_ns = starts_ns + round(duration_ms * 1_000_000)
            self._runs[request.key] = Run(request, digest, starts_ns, ends_ns, met)
            self._note("started", request.key)
            return True

    def cancel(self, key: str) -> None:
        """Cancel a run that has not ended; one that never came will not be started either."""
        with self._lock:
            run = self._runs.get(key)
            if run is None:
                if key not in self._refused:
                    self._refused.add(key)
                    self._note("cancelled", key)
                return
        with run.lock:
            if not self._state(run).is_terminal:
                run.end = RunState("CANCELLED")
                self._note("cancelled", key)

    def state(self, key: str) -> RunState | None:
        """Return how far a run is, None when the key has none.

        Raises:
            ForgottenError: It has ended, and was made to be forgotten.
        """
        with self._lock:
            run = self._runs.get(key)
            if run is None:
                return RunState("CANCELLED") if key in self._refused else None
        with run.lock:
            state = self._state(run)
        if state.is_terminal and run.met.is_of("expire"):
            raise ForgottenError(f"what became of the run {key!r} is not kept any more")
        return state

    def _state(self, run: Run) -> RunState:
        if run.end is None:
            now_ns = self._now_ns()
            if now_ns < run.starts_ns:
                return RunState("NOT_STARTED")
            if now_ns < run.ends_ns or (run.met.is_of("hold") and not run.met.released.is_set()):
                return RunState("RUNNING")
            run.end = self._outcome(run)
            self._note("ended", run.request.key, state=run.end.state)
        return run.end

    def _outcome(self, run: Run) -> RunState:
        if run.met.is_of("fail"):
            return RunState("FAILED", "a fault was asked for")
        try:
            return RunState("COMPLETED", result=self._work(run.request))
        except Exception as error:  # noqa: BLE001 - what the work raises is how its run fails
            return RunState("FAILED", f"{type(error).__name__}: {error}")
