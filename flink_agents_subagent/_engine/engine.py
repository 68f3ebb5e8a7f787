"""The engine of one subtask: commands in, effects out (decision 0001). A facade: keys and their inputs are all it knows itself."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.calls import CallDesk
from flink_agents_subagent._engine.checkpoint import KeyEntry, QueuedInput, decode_key_entry, encode_key_entry
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.direct import DirectInputs, direct_action
from flink_agents_subagent._engine.effects import CallOutcome, Effect, EnginePorts, FailTask, Metric
from flink_agents_subagent._engine.event_log import EventLog
from flink_agents_subagent._engine.faults import EngineStopped
from flink_agents_subagent._engine.held_input import HeldInput
from flink_agents_subagent._engine.restore import Restorer
from flink_agents_subagent._engine.run import Run
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent._plan.compiled import CompiledAgent
from flink_agents_subagent.errors import AgentError, BridgeError

__all__ = ["Engine"]

_log = logging.getLogger(__name__)

_RESTORED_TICKET = 0


class Engine:
    """Runs one agent for the keys of one subtask.

    Guarantee: performs no I/O, reads no clock, starts no thread; the same commands give the same effects. After a fault
        (`FailTask`) or `close` every further command does nothing.
    Thread: one thread. The host drains `take_effects` after each command, or after several that come together, and performs
        the effects in order.
    """

    def __init__(self, agent: CompiledAgent, settings: EngineSettings, ports: EnginePorts) -> None:
        self._core = EngineCore(agent, settings, ports)
        self._core.calls = CallDesk(self._core)
        # An event log wants to know of everything: then nothing is handled without a run.
        action = direct_action(agent.routes) if settings.event_log == "off" else None
        self._core.log = None if settings.event_log == "off" else EventLog(self._core)
        self._direct = None if action is None else DirectInputs(self._core, action)
        self._runs: dict[bytes, Run] = {}
        """The active run of each key that has one; an idle key has nothing here."""
        self._queues: dict[bytes, deque[HeldInput]] = {}
        self._restorer: Restorer | None = Restorer()
        self._touched: set[bytes] = set()
        """Keys of which something other than the run changed since the last snapshot."""
        self._stored: set[bytes] = set()
        """Keys that had an entry in the last snapshot."""
        self._is_closed = False

    # Restore

    def restore_entry(self, key: bytes, entry: bytes) -> int:
        """Take the checkpoint entry of a key; returns how many inputs it holds, which will finish with ticket 0.

        Raises:
            UnknownVersionError: A later release wrote it.
            StoreCorruptError: It cannot be read.
        """
        decoded = decode_key_entry(self._core.codec, entry)
        self._restoring().add_entry(key, decoded)
        self._stored.add(key)
        return decoded.inputs

    def restore_record(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Take a record of the store's tail, in any order."""
        self._restoring().add_record(key, run_number, record_number, payload)

    def start(self, now_ms: int) -> None:
        """Replay every restored run."""
        restorer = self._restoring()
        self._restorer = None
        self._do(now_ms, self._start, restorer)

    def _restoring(self) -> Restorer:
        if self._restorer is None:
            raise BridgeError("the engine was started already; restore commands come before `start`")
        return self._restorer

    def _start(self, restorer: Restorer) -> None:
        core = self._core
        restored = list(restorer.keys(core.run_number))
        for key, entry, highest in restored:
            core.use_run_number(key, highest)
            for journal in entry.unclaimed:
                core.unclaimed.add(key, replace(journal, restored_ms=core.now_ms))
                core.count(metric.UNCLAIMED_JOURNALS)
            self._touched.add(key)
        self._expire_later()
        # What is under way in any run has its place in a lane before something new begins.
        core.calls.turns.hold()
        for key, entry, _ in restored:
            waiting = [HeldInput(_RESTORED_TICKET, queued.raw, queued.timestamp) for queued in entry.queue]
            if entry.run is not None:
                run = Run(core, key, HeldInput(_RESTORED_TICKET, entry.run.raw, entry.run.timestamp))
                run.restore(entry.run)
            elif waiting:
                run = Run(core, key, waiting.pop(0))
            else:
                continue
            if waiting:
                self._queues[key] = deque(waiting)
            self._begin(key, run)
        core.calls.turns.let_go()

    # Commands

    def process_input(self, ticket: int, key: bytes, raw: bytes, timestamp: int | None, now_ms: int) -> None:
        """Start the run of an input, or queue it behind the active run of its key (E1.1).

        Args:
            ticket: Given back by `InputFinished`; from 1.
            key: Canonical key bytes.
            raw: The input as the host's format has it; `EnginePorts.decode_input` reads it.
            timestamp: In milliseconds, None when it has none.
            now_ms: The engine time.
        """
        core = self._core
        if core.failure is not None or self._is_closed:
            return
        if core.now_ms != now_ms:
            core.advance(now_ms)
        if key in self._runs:
            self._queues.setdefault(key, deque()).append(HeldInput(ticket, raw, timestamp))
            self._touched.add(key)
            return
        try:
            direct = self._direct
            if direct is None or core.now_ms < direct.rests_until_ms:
                self._begin(key, Run(core, key, HeldInput(ticket, raw, timestamp)))
            elif (run := direct.process(ticket, key, raw, timestamp)) is not None:
                self._begin(key, run)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it leaves a half-done run behind
            self._stop(error)

    def complete_call(self, call: int, outcome: CallOutcome, now_ms: int) -> None:
        """Take the end of a call that `StartCall` started; a late one of an abandoned call frees its place."""
        self._do(now_ms, self._core.calls.complete, call, outcome)

    def acknowledge(self, seqs: Iterable[int], now_ms: int) -> None:
        """Take the store's acknowledgement of appended records; their runs go on (E2.2)."""
        self._do(now_ms, self._acknowledge, seqs)

    def fire_timers(self, now_ms: int) -> None:
        """Do everything that is due."""
        self._do(now_ms, self._fire)

    def snapshot(self, now_ms: int) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield key and entry of every key that changed since the last snapshot; None clears a key's entry (E4.1).

        The host takes all of them before the next command.
        """
        core = self._core
        core.advance(now_ms)
        if core.failure is not None:
            raise core.failure
        try:
            yield from self._changed_entries()
        except AgentError as error:
            core.failure = error
            raise
        core.unrecorded.snapshot_taken()

    def close(self) -> None:
        """Seal every context and end the actions' code; nothing is sent or recorded by it. Never raises."""
        if self._is_closed:
            return
        self._is_closed = True
        for run in self._runs.values():
            try:
                run.abandon(is_final=False)
            except (Exception, EngineStopped):  # noqa: BLE001 - a task that closes must close
                _log.exception("an action could not be ended")
        self._runs.clear()
        self._queues.clear()

    def take_effects(self) -> list[Effect]:
        """Hand over what the host has to do, in order; the list is the host's."""
        return self._core.take_effects()

    def take_metrics(self) -> list[Metric]:
        """Hand over the sums of counters and the values of histograms since the last time (E7.1)."""
        return self._core.meter.take()

    # Inside

    def _do(self, now_ms: int, command: Callable[..., None], *args: object) -> None:
        core = self._core
        if core.failure is not None or self._is_closed:
            return
        core.advance(now_ms)
        try:
            command(*args)
        except BaseException as error:  # noqa: BLE001 - as in `process_input`
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        """Do nothing any more; an interrupt goes on to whoever is to be interrupted."""
        core = self._core
        core.leave()
        if core.failure is None:
            core.failure = error
            core.effects.append(FailTask(error))
        if isinstance(error, KeyboardInterrupt):
            raise error

    def _begin(self, key: bytes, run: Run) -> None:
        self._runs[key] = run
        run.begin()
        if run.is_over:
            self._go_on(key)

    def _go_on(self, key: bytes) -> None:
        """Start the runs of queued inputs until one stays active."""
        del self._runs[key]
        queue = self._queues.pop(key, None)
        while queue:
            run = self._runs[key] = Run(self._core, key, queue.popleft())
            run.begin()
            if not run.is_over:
                break
            del self._runs[key]
        if queue:
            self._queues[key] = queue

    def _acknowledge(self, seqs: Iterable[int]) -> None:
        core = self._core
        latencies = core.meter.acknowledge_latency_ms
        acknowledged: dict[Run, None] = {}
        for seq in seqs:
            awaiting = core.awaiting.pop(seq, None)
            if awaiting is None:
                raise BridgeError(f"the store acknowledged the sequence number {seq}, for which nothing waits")
            run, record, appended_ms = awaiting
            record.is_acknowledged = True
            latencies.append(core.now_ms - appended_ms)
            acknowledged[run] = None
        for run in acknowledged:
            if not run.is_over and run.settle():
                self._go_on(run.key)

    def _fire(self) -> None:
        deadlines, now_ms = self._core.deadlines, self._core.now_ms
        deadlines.fired(now_ms)
        while (deadline := deadlines.pop_due(now_ms)) is not None:
            deadline.action()

    def _entry(self, key: bytes, run: Run | None) -> bytes:
        queue = [QueuedInput(held.raw, held.timestamp) for held in self._queues.get(key, ())]
        entry = KeyEntry(None if run is None else run.entry(), queue, self._core.unclaimed.of(key))
        return encode_key_entry(self._core.codec, entry)

    def _changed_entries(self) -> Iterator[tuple[bytes, bytes | None]]:
        unclaimed = self._core.unclaimed
        touched, self._touched = self._touched | unclaimed.take_changed(), set()
        for key, run in self._runs.items():
            if run.is_dirty or key in touched:
                run.is_dirty = False
                self._stored.add(key)
                yield key, self._entry(key, run)
        for key in unclaimed:
            if key in touched and key not in self._runs:
                self._stored.add(key)
                yield key, self._entry(key, None)
        for key in [key for key in self._stored if key not in self._runs and not unclaimed.has(key)]:
            self._stored.remove(key)
            yield key, None

    def _expire_later(self) -> None:
        earliest = self._core.unclaimed.earliest_restored_ms()
        if earliest is not None:
            self._core.deadlines.add(earliest + self._core.settings.unclaimed_retention_ms, self._expire)

    def _expire(self) -> None:
        core = self._core
        for key, journal in core.unclaimed.expire(core.now_ms - core.settings.unclaimed_retention_ms):
            # The store may still hold it: its number must not be given again.
            core.use_run_number(key, journal.run_number)
            core.count(metric.UNCLAIMED_EXPIRED)
            core.count(metric.UNCLAIMED_JOURNALS, "", -1)
            _log.info(
                "nothing claimed a journal within replay.unclaimed-retention", extra={"run_number": journal.run_number}
            )
        self._expire_later()
