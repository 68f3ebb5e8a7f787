"""One life of an operator, without a JVM: an engine and the host that performs its effects.

Everything that can happen next is an `Activity`; who drives the process chooses. Before and after each, and between an
effect and its consequence, the process passes a *point* at which it may die. What it knows dies with it; the world stays.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flink_agents_subagent._engine.effects import (
    Append,
    CallOrigin,
    CancelCall,
    Count,
    Emit,
    EnginePorts,
    FailTask,
    InputFinished,
    Log,
    SetTimer,
    StartCall,
    WriteMemory,
    WriteRunNumber,
)
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent._engine.log_line import LogLines
from flink_agents_subagent._engine.record import decode_record
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._plan.compiled import CompiledAgent
from flink_agents_subagent.testing.activity import Activity, Observer
from flink_agents_subagent.testing.calls import LocalCalls
from flink_agents_subagent.testing.clock import ManualClock
from flink_agents_subagent.testing.element import Output, SourceInput
from flink_agents_subagent.testing.virtual_loop import VirtualLoop
from flink_agents_subagent.testing.world import Checkpoint, Invocation, World

__all__ = ["Job", "Process"]


@dataclass(frozen=True, slots=True)
class Job:
    """What every life of the operator has in common."""

    agent: CompiledAgent
    settings: EngineSettings
    decode: Callable[[bytes], Any]
    copy: Callable[[Any], Any]
    """Detaches an output from the objects of the action, as a stream does."""
    make_engine: Callable[[CompiledAgent, EngineSettings, EnginePorts], Engine] = Engine

    @property
    def codec(self) -> ValueCodec:
        """A codec as the engine has one."""
        return ValueCodec(TypeRegistry(self.agent.types), allow_pickle=self.settings.journal_pickle == "allow")


class Process:
    """One engine with its host.

    Guarantee: effects are performed in order after each command; a record counts as durable when it is in the world's store.
    Thread: one.
    """

    def __init__(self, job: Job, world: World, clock: ManualClock, loop: VirtualLoop, observer: Observer) -> None:
        """Prepare a life that continues from the world's last checkpoint; `restore` begins it."""
        checkpoint = world.checkpoint
        self._job = job
        self._world = world
        self._clock = clock
        self._loop = loop
        self._observer = observer
        self._timer_ms: int | None = None
        self._unstored: deque[Append] = deque()
        self._unacknowledged: deque[int] = deque()
        world.lives += 1
        self.life = world.lives
        self.calls = LocalCalls(loop, world)
        self.state = checkpoint.state.copy()
        self.entries = dict(checkpoint.entries)
        self.progress = checkpoint.progress.copy()
        self.outputs = list(checkpoint.outputs)
        self.to_deliver: deque[SourceInput] = deque()
        self.counters: Counter[str] = Counter()
        self.events: list[dict[str, Any]] = []
        """The event log: the lines as whoever reads them gets them."""
        settings = job.settings
        where = {"job": settings.job_identifier, "operator": settings.operator_uid, "subtask": 0}
        self._lines = LogLines({**where, "task_attempt": self.life - 1})
        self.failure: BaseException | None = None
        self.is_dead = False
        self._activity = Activity.INPUT
        ports = EnginePorts(self.state, _BlockingStore(self), job.decode, job.copy)
        self._engine = job.make_engine(job.agent, job.settings, ports)
        self._perform: dict[type[Any], Callable[[Any], None]] = {
            Append: self._unstored.append,
            CancelCall: lambda effect: self.calls.cancel(effect.call),
            Emit: self._emit,
            FailTask: self._fail,
            InputFinished: self._finish,
            Log: self._log,
            SetTimer: self._set_timer,
            StartCall: self.calls.waiting.append,
            WriteMemory: self.state.write,
            WriteRunNumber: self._write_number,
        }

    # The life of a process

    def restore(self, source: list[SourceInput]) -> None:
        """Restore the last checkpoint and the tail of the store, replay, and take `source` for what is still to come."""
        for key, entry in self.entries.items():
            self._engine.restore_entry(key, entry)
        for record in self._world.tail():
            self._engine.restore_record(record.key, record.run_number, record.record_number, record.payload)
        self._engine.start(self._clock.now_ms)
        self._drain()
        self.to_deliver.extend(source)
        self._observer.point("after restore")

    def activities(self) -> list[Activity]:
        """Return what can happen without time going by."""
        possible = {
            Activity.INPUT: self.to_deliver,
            Activity.PERSIST: self._unstored,
            Activity.ACKNOWLEDGE: self._unacknowledged,
            Activity.START_CALL: self.calls.waiting,
            Activity.END_CALL: self.calls.ended,
        }
        found = [activity for activity, queue in possible.items() if queue]
        if self._timer_ms is not None and self._timer_ms <= self._clock.now_ms:
            found.append(Activity.TIMER)
        return found

    def choices(self, activity: Activity) -> int:
        """Return among how many `place` may choose."""
        if activity is Activity.ACKNOWLEDGE:
            return len(self._unacknowledged)
        if activity is Activity.START_CALL:
            return len(self.calls.waiting)
        return len(self.calls.ended) if activity is Activity.END_CALL else 1

    def perform(self, activity: Activity, place: int = 0) -> None:
        """Let one thing happen.

        Args:
            activity: One of `activities`.
            place: Which call starts or ends, counted from the oldest; or how many records more than one are acknowledged at once.
        """
        self._observer.point(f"before {activity.value}")
        self._activity = activity
        if activity is Activity.INPUT:
            self._deliver()
        elif activity is Activity.PERSIST:
            self._store(self._unstored.popleft())
        elif activity is Activity.ACKNOWLEDGE:
            acknowledged = [self._unacknowledged.popleft() for _ in range(place + 1)]
            self._engine.acknowledge(acknowledged, self._clock.now_ms)
        elif activity is Activity.START_CALL:
            self._start_call(place)
        elif activity is Activity.END_CALL:
            self._end_call(place)
        else:
            self._timer_ms = None
            self._engine.fire_timers(self._clock.now_ms)
        self._drain()
        self._observer.point(f"after {activity.value}")

    def sleeps_at_most(self, limit_ms: int) -> bool:
        """Tell whether the next time at which something happens is no further away than that."""
        next_ms = self._next_ms()
        return next_ms is not None and next_ms - self._clock.now_ms <= limit_ms

    def let_time_pass(self) -> bool:
        """Move to the next time at which something happens, or wait for what is outside; tell whether there is any."""
        next_ms = self._next_ms()
        if self._loop.waits_outside():
            self._loop.wait_outside(next_ms)
        elif next_ms is None:
            return False
        else:
            self._clock.advance_to(next_ms)
        self._loop.settle()
        return True

    def checkpoint(self) -> None:
        """Complete a checkpoint: from here on the world has it."""
        self._observer.point("before snapshot")
        for key, entry in self._engine.snapshot(self._clock.now_ms):
            if entry is None:
                self.entries.pop(key, None)
            else:
                self.entries[key] = entry
        self._drain()
        # It does not wait for the store: what is on its way may be lost, and is in the entries.
        on_the_way = [(self.life, append.key, append.run_number, append.record_number) for append in self._unstored]
        self._observer.point("during snapshot")
        self._world.complete(
            Checkpoint(
                entries=dict(self.entries),
                state=self.state.copy(),
                position=len(self._world.records),
                queued=frozenset(on_the_way),
                progress=self.progress.copy(),
                outputs=list(self.outputs),
            )
        )
        self._observer.point("after snapshot")

    def close(self) -> None:
        """End, in order or not: what the engine still asks for is not performed.

        A process that really dies does not run the `finally` blocks of its actions; here they run, with a sealed context.
        """
        self.is_dead = True
        self._engine.close()
        self.calls.abandon()

    def _next_ms(self) -> int | None:
        times = [time for time in (self._timer_ms, self._loop.next_timer_ms()) if time is not None]
        return min(times, default=None)

    # What activities do

    def _deliver(self) -> None:
        element = self.to_deliver.popleft()
        self.progress.deliver(element, self._clock.now_ms)
        self._engine.process_input(element.number + 1, element.key, element.raw, element.timestamp, self._clock.now_ms)

    def _store(self, append: Append) -> None:
        self._observer.appending(append, self.life)
        self._world.store(append, self.life)
        self._unacknowledged.append(append.seq)

    def _start_call(self, place: int) -> None:
        effect = self.calls.waiting[place]
        del self.calls.waiting[place]
        key = b"" if effect.origin is None else effect.origin.key
        self._observer.starting(effect, self.life, self.progress.active(key))
        self.calls.start(effect, self.life)

    def _end_call(self, place: int) -> None:
        # A blocking function may have moved the clock: what was due while it worked comes first.
        if self._timer_ms is not None and self._timer_ms <= self._clock.now_ms:
            self._timer_ms = None
            self._engine.fire_timers(self._clock.now_ms)
            self._drain()
        if place < len(self.calls.ended):
            effect, outcome = self.calls.ended[place]
            del self.calls.ended[place]
            self._engine.complete_call(effect.call, outcome, self._clock.now_ms)

    # What effects do

    def _drain(self) -> None:
        while not self.is_dead and (effects := self._engine.take_effects()):
            for effect in effects:
                self._perform[type(effect)](effect)
        for metric in self._engine.take_metrics():
            if isinstance(metric, Count):
                self.counters[metric.metric] += metric.amount
        if self.failure is not None:
            raise self.failure

    def _emit(self, effect: Emit) -> None:
        self._observer.acting(self._activity)
        self.outputs.append(Output(effect.key, effect.payload, effect.timestamp, effect.is_dead_letter))

    def _log(self, effect: Log) -> None:
        self.events.append(json.loads(self._lines.line(effect.entry)))

    def _fail(self, effect: FailTask) -> None:
        if self.failure is None:
            self.failure = effect.error

    def _finish(self, effect: InputFinished) -> None:
        self._observer.acting(self._activity)
        self._observer.finishing(self.progress.active(effect.key))
        self.progress.finish(effect.key, self._clock.now_ms)

    def _write_number(self, effect: WriteRunNumber) -> None:
        self.state.write_number(effect)
        self.progress.number(effect.key, effect.run_number)

    def _set_timer(self, effect: SetTimer) -> None:
        self._timer_ms = effect.deadline_ms if self._timer_ms is None else min(self._timer_ms, effect.deadline_ms)

    def commit(self, append: Append) -> None:
        """Make a record durable at once, behind all that waits (S1.2)."""
        self._observer.point("before commit")
        while self._unstored:
            self._store(self._unstored.popleft())
        self._observer.appending(append, self.life)
        self._world.store(append, self.life)
        self._note_blocking_call(append)
        self._observer.point("after commit")

    def _note_blocking_call(self, append: Append) -> None:
        """The engine makes the calls of `def` actions itself; their records are all that a host sees of them."""
        record = decode_record(append.record_number, append.payload, "a record")
        if record.kind != "o":
            return
        run = (append.key, append.run_number, record.execution, record.slot)
        origin = CallOrigin(*run, record.function_id, record.fingerprint, 1, has_reconciler=False, is_reconciler=False)
        invocation = Invocation(record.function_id, origin, self.life, is_done=True)
        if record.status == "ok":
            invocation.value = self._job.codec.decode(record.value)
        else:
            invocation.error = self._job.codec.decode_error(record.value)
        self._world.invocations.append(invocation)

    def now(self) -> int:
        """Return the virtual time."""
        return self._clock.now_ms


class _BlockingStore:
    """The engine's port for the appends of `def` actions."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def commit(self, append: Append) -> None:
        self._process.commit(append)

    def now(self) -> int:
        return self._process.now()
