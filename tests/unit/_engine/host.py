"""A hand-cranked host: performs effects only when a test says so, and keeps what a crash would keep."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flink_agents_subagent._engine.effects import (
    Append,
    CallRaised,
    CallReturned,
    CancelCall,
    Count,
    Effect,
    Emit,
    EnginePorts,
    FailTask,
    InputFinished,
    Metric,
    Observe,
    SetTimer,
    StartCall,
    WriteMemory,
    WriteRunNumber,
)
from flink_agents_subagent._engine.encoding import key_bytes
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._plan.compiled import CompiledAction, CompiledAgent, Route
from flink_agents_subagent.events import Event, InputEvent

E = TypeVar("E", bound=Effect)

__all__ = ["Disk", "Host", "agent_of"]


def agent_of(*functions: Callable[..., Any], **fields: Any) -> CompiledAgent:
    """Return an agent: functions marked with an event type by `on`, the others triggered by the input."""
    routes: dict[type[Event], list[Route]] = {}
    actions: dict[str, CompiledAction] = {}
    for function in functions:
        action = CompiledAction(function.__name__, function, asyncio.iscoroutinefunction(function))
        actions[action.name] = action
        trigger = getattr(function, "trigger", InputEvent)
        routes.setdefault(trigger, []).append(Route(action, getattr(function, "condition", None)))
    return CompiledAgent("agent", {event: tuple(found) for event, found in routes.items()}, actions, **fields)


def on(trigger: type[Event], condition: Callable[[Any], bool] | None = None) -> Callable[[Any], Any]:
    """Mark what triggers a function."""

    def mark(function: Any) -> Any:
        function.trigger, function.condition = trigger, condition
        return function

    return mark


def _detached(output: Any) -> Any:
    # A copy of an exception has no traceback, which tests look at.
    return output if isinstance(output, BaseException) else copy.deepcopy(output)


@dataclass
class Disk:
    """What outlives a process: keyed state and the log of the store."""

    memory: dict[tuple[bytes, str], bytes] = field(default_factory=dict)
    run_numbers: dict[bytes, int] = field(default_factory=dict)
    entries: dict[bytes, bytes] = field(default_factory=dict)
    log: list[Append] = field(default_factory=list)

    def checkpointed(self) -> Disk:
        """Return a copy as a checkpoint would keep it: the log before it is not needed any more."""
        return Disk(dict(self.memory), dict(self.run_numbers), dict(self.entries), [])


class Host:
    """Drives an engine by hand. Appends are acknowledged and calls completed only on demand."""

    def __init__(
        self, agent: CompiledAgent, disk: Disk | None = None, now_ms: int = 1_000_000, **settings: Any
    ) -> None:
        self.disk = disk or Disk()
        self.now_ms = now_ms
        self.effects: list[Effect] = []
        self.metrics: list[Metric] = []
        self.calls: dict[int, StartCall] = {}
        self.unacknowledged: list[int] = []
        self.timer_ms: int | None = None
        self.failure: BaseException | None = None
        self.commits: list[Append] = []
        self._tickets = 0
        options = {"job_identifier": "job", "operator_uid": "uid", **settings}
        self.engine = Engine(agent, EngineSettings(**options), EnginePorts(self, self, pickle.loads, _detached))

    # Ports

    def read(self, key: bytes, path: str) -> bytes | None:
        """Read keyed state."""
        return self.disk.memory.get((key, path))

    def run_number(self, key: bytes) -> int:
        """Read the run number of keyed state."""
        return self.disk.run_numbers.get(key, 0)

    def commit(self, append: Append) -> None:
        """Take a record durably, at once."""
        self.disk.log.append(append)
        self.commits.append(append)

    def now(self) -> int:
        """Return the time."""
        return self.now_ms

    # Commands

    def input(self, value: Any, key: Any = "k", timestamp: int | None = None) -> None:
        """Hand in an input of a key."""
        self._tickets += 1
        self.engine.process_input(self._tickets, key_bytes(key), pickle.dumps(value), timestamp, self.now_ms)
        self.perform()

    def returns(self, value: Any = None, call: int | None = None) -> None:
        """Complete the oldest running call, or a given one."""
        self._complete(call, CallReturned(value))

    def raises(self, error: BaseException, call: int | None = None) -> None:
        """Let a call end with an exception."""
        self._complete(call, CallRaised(error))

    def run_call(self, call: int | None = None) -> None:
        """Really call the oldest running function."""
        number = call or min(self.calls)
        started = self.calls[number]
        try:
            value = started.function()
            if started.is_coroutine:
                value = _run(value)
        except Exception as error:  # noqa: BLE001 - as a host does
            self.raises(error, number)
        else:
            self.returns(value, number)

    def acknowledge(self, count: int | None = None) -> None:
        """Acknowledge what was appended, oldest first."""
        seqs = self.unacknowledged[:count]
        del self.unacknowledged[: len(seqs)]
        self.engine.acknowledge(seqs, self.now_ms)
        self.perform()

    def advance(self, ms: int) -> None:
        """Let time pass and fire what is due."""
        self.now_ms += ms
        if self.timer_ms is not None and self.timer_ms <= self.now_ms:
            self.timer_ms = None
            self.engine.fire_timers(self.now_ms)
            self.perform()

    def run(self, limit: int = 1000) -> None:
        """Go on until nothing happens any more: calls, acknowledgements, timers."""
        for _ in range(limit):
            if self.failure is not None:
                return
            if self.unacknowledged:
                self.acknowledge()
            elif self.calls:
                self.run_call()
            elif self.timer_ms is not None:
                self.advance(max(0, self.timer_ms - self.now_ms))
            else:
                return
        raise AssertionError("the engine does not come to rest")

    def run_to_rest(self, limit: int = 1000) -> None:
        """Go on without completing calls: acknowledgements and timers only."""
        for _ in range(limit):
            if self.unacknowledged:
                self.acknowledge()
            elif self.timer_ms is not None and self.failure is None:
                self.advance(max(0, self.timer_ms - self.now_ms))
            else:
                return
        raise AssertionError("the engine does not come to rest")

    def snapshot(self) -> Disk:
        """Take a checkpoint."""
        for key, entry in self.engine.snapshot(self.now_ms):
            if entry is None:
                del self.disk.entries[key]
            else:
                self.disk.entries[key] = entry
        return self.disk.checkpointed()

    def start(self) -> int:
        """Restore from the disk and replay; returns the number of restored inputs."""
        count = sum(self.engine.restore_entry(key, entry) for key, entry in self.disk.entries.items())
        for append in self.disk.log:
            self.engine.restore_record(append.key, append.run_number, append.record_number, append.payload)
        self.engine.start(self.now_ms)
        self.perform()
        return count

    # Effects

    def perform(self) -> None:
        """Perform effects in order."""
        self.metrics += self.engine.take_metrics()
        for effect in self.engine.take_effects():
            self.effects.append(effect)
            perform = _PERFORM.get(type(effect))
            if perform is not None:
                perform(self, effect)

    def _append(self, effect: Append) -> None:
        self.disk.log.append(effect)
        self.unacknowledged.append(effect.seq)

    def _write_memory(self, effect: WriteMemory) -> None:
        for path, data in effect.entries.items():
            if data is None:
                self.disk.memory.pop((effect.key, path), None)
            else:
                self.disk.memory[effect.key, path] = data

    def _start_call(self, effect: StartCall) -> None:
        self.calls[effect.call] = effect

    def _cancel_call(self, effect: CancelCall) -> None:
        del self.calls[effect.call]

    def _write_run_number(self, effect: WriteRunNumber) -> None:
        self.disk.run_numbers[effect.key] = effect.run_number

    def _set_timer(self, effect: SetTimer) -> None:
        self.timer_ms = effect.deadline_ms

    def _fail(self, effect: FailTask) -> None:
        self.failure = effect.error

    def of(self, kind: type[E]) -> list[E]:
        """Return the effects of one type, oldest first."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def outputs(self) -> list[Any]:
        """What left by the main output."""
        return [effect.payload for effect in self.of(Emit) if not effect.is_dead_letter]

    @property
    def finished(self) -> list[int]:
        """The tickets of the inputs that ended."""
        return [effect.ticket for effect in self.of(InputFinished)]

    def observed(self) -> list[Observe]:
        """Return what was added to histograms."""
        return [metric for metric in self.metrics if isinstance(metric, Observe)]

    def counted(self, metric: str) -> int:
        """The sum of a counter."""
        return sum(count.amount for count in self.metrics if isinstance(count, Count) and count.metric == metric)

    def _complete(self, call: int | None, outcome: CallReturned | CallRaised) -> None:
        number = call or min(self.calls)
        self.calls.pop(number, None)
        self.engine.complete_call(number, outcome, self.now_ms)
        self.perform()


def _run(coroutine: Any) -> Any:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


_PERFORM: dict[type[Effect], Callable[[Host, Any], None]] = {
    Append: Host._append,
    CancelCall: Host._cancel_call,
    FailTask: Host._fail,
    SetTimer: Host._set_timer,
    StartCall: Host._start_call,
    WriteMemory: Host._write_memory,
    WriteRunNumber: Host._write_run_number,
}
