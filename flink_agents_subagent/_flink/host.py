"""Hosts one engine in a Flink operator: hands its effects to the Java side, brings completions back.

Owns the translation between effects and calls of `JavaHost`; must not decide anything about agents.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable
from typing import Any

from flink_agents_subagent._engine.effects import (
    Append,
    CancelCall,
    Effect,
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
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.calls import Calls
from flink_agents_subagent._flink.crash_points import calls_with_crash
from flink_agents_subagent._flink.effect_block import EffectBlock
from flink_agents_subagent._flink.event_log import EventLogWriter
from flink_agents_subagent._flink.formats import decoder, encoder
from flink_agents_subagent._flink.input_block import InputBlock
from flink_agents_subagent._flink.java_subagents import JavaSubagents
from flink_agents_subagent._flink.keyed import KeyedState, MailboxStore
from flink_agents_subagent._flink.metrics import Metrics
from flink_agents_subagent._flink.operator_settings import OperatorSettings
from flink_agents_subagent._flink.port import NO_TIMESTAMP, SLICE_SECONDS, JavaHost
from flink_agents_subagent._plan import ResourceLifecycle, all_resources, load_plan
from flink_agents_subagent.subagents.java import JavaSubagent

__all__ = ["OperatorHost"]

_LATEST_DEADLINE_MS = 1 << 62


class OperatorHost:
    """One engine and its Java side.

    Thread: task thread, except what `Calls` says.
    """

    def __init__(self, java: JavaHost, background: BackgroundLoop, plan: bytes, settings: bytes) -> None:
        """Load the plan and make the engine; nothing is opened."""
        told = OperatorSettings.parse(settings)
        told.check_python()
        told.check_shipped_modules()
        agent = load_plan(plan)
        self.calls = calls_with_crash(java, background, told.crash_at) if told.crash_at else Calls(java, background)
        self.java_subagents = JavaSubagents(java, background)
        for owners, _, resource in all_resources(agent.resources):
            if isinstance(resource, JavaSubagent):
                resource.attach(self.java_subagents.within(owners))
        self._java = java
        self._background = background
        self._resources = ResourceLifecycle(agent.resources, background.run_and_wait)
        self._encode_dead_letter = encoder("pickle", agent.types)
        self._effects = effects = EffectBlock()
        self._deadline_ms = _LATEST_DEADLINE_MS
        ports = EnginePorts(
            keyed=KeyedState(java),
            blocking=MailboxStore(java),
            decode_input=decoder(told.input_format, agent.types),
            encode_output=encoder(told.output_format, agent.types),
        )
        self._engine = Engine(agent, told.engine, ports)
        self._metrics = Metrics(java, self._engine.take_metrics)
        self._handlers: dict[type[Any], Callable[[Any], None]] = {
            Append: effects.append,
            CancelCall: self._cancel_call,
            Emit: self._emit_dead_letter,
            FailTask: self._fail,
            InputFinished: effects.finish_input,
            SetTimer: self._set_timer,
            StartCall: self.calls.start,
            WriteMemory: effects.write_memory,
            WriteRunNumber: effects.write_run_number,
        }
        self._event_log = None if told.engine.event_log == "off" else EventLogWriter(java, told.where)
        if self._event_log is not None:
            self._handlers[Log] = self._event_log.add

    def open(self) -> None:
        """Wait for the background loop and open the resources."""
        self._background.wait_until_running()
        self._resources.open()

    def restore_entry(self, key: bytes, entry: bytes) -> int:
        """Restore a key; return its number of inputs."""
        return self._engine.restore_entry(key, entry)

    def restore_record(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Restore a record of the store's tail."""
        self._engine.restore_record(key, run_number, record_number, payload)

    def start(self, now: int) -> bytes | None:
        """End the restore phase: all restored runs go on, or none where one of them cannot."""
        self._engine.start(now)
        effects = self._engine.take_effects()
        for effect in effects:
            if isinstance(effect, Log):
                self._handlers[Log](effect)
            if isinstance(effect, FailTask):
                # Before the calls of runs that can: the code is to be corrected before anything is sent by it.
                self._fail(effect)
        effects = [effect for effect in effects if not isinstance(effect, Log)]
        return self._perform(effects, now)

    def process(self, inputs: bytes) -> bytes | None:
        """Take inputs: all, or as many as a time slice is enough for."""
        block = InputBlock(inputs)
        process_input, now, left = self._engine.process_input, block.now_ms, block.count
        clock = time.perf_counter
        end = clock() + SLICE_SECONDS
        for ticket, key, value, timestamp in block:
            process_input(ticket, key, value, None if timestamp == NO_TIMESTAMP else timestamp, now)
            left -= 1
            if clock() >= end:
                break
        if left:
            self._effects.leave_inputs(left)
        return self._finish(now)

    def drain(self, seqs: bytes, now: int) -> bytes | None:
        """Take acknowledgements, completions and due deadlines."""
        engine = self._engine
        if seqs:
            engine.acknowledge(struct.unpack(f">{len(seqs) // 8}q", seqs), now)
        for call, outcome in self.calls.take():
            engine.complete_call(call, outcome, now)
        if now >= self._deadline_ms:
            self._deadline_ms = _LATEST_DEADLINE_MS
            engine.fire_timers(now)
        return self._finish(now)

    def snapshot(self, now: int) -> bytes | None:
        """Write the entries of changed keys."""
        for key, entry in self._engine.snapshot(now):
            self._java.snapshotEntry(key, entry)
        self._metrics.flush(now)
        return self._finish(now)

    def close(self) -> None:
        """Seal the engine, drop completions, close the resources."""
        try:
            self.calls.close()
            self._engine.close()
        finally:
            self._resources.close()

    def _finish(self, now: int) -> bytes | None:
        return self._perform(self._engine.take_effects(), now)

    def _perform(self, effects: Iterable[Effect], now: int) -> bytes | None:
        handlers, emit = self._handlers, self._effects.emit
        for effect in effects:
            # Nearly every input has one; it does without a method of this class.
            if type(effect) is Emit and not effect.is_dead_letter:
                emit(effect.payload, effect.timestamp)
            else:
                handlers[type(effect)](effect)
        if not self.calls.is_drain_coming:
            self.calls.flush()
        self._metrics.flush_if_due(now)
        if self._event_log is not None:
            self._event_log.flush()
        return self._effects.take()

    def _emit_dead_letter(self, effect: Emit) -> None:
        self._effects.emit_dead_letter(self._encode_dead_letter(effect.payload), effect.timestamp)

    def _set_timer(self, effect: SetTimer) -> None:
        # A sleep of a thousand years is a number that Java must be able to take.
        self._deadline_ms = min(effect.deadline_ms, _LATEST_DEADLINE_MS)
        self._effects.set_timer(self._deadline_ms)

    def _cancel_call(self, effect: CancelCall) -> None:
        self.calls.cancel(effect.call)

    def _fail(self, effect: FailTask) -> None:
        if self._event_log is not None:
            self._event_log.flush()
        # What the inputs before the faulty one sent is not lost with it.
        performed = self._effects.take()
        if performed is not None:
            self._java.perform(performed)
        raise effect.error
