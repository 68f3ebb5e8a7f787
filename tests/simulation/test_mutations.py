"""Engines with one fault each: the simulator must find every one (E8.2).

Each fault wraps the engine's commands and effects, so that it does not depend on how the engine works inside.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    Event,
    InputEvent,
    OutputEvent,
    RetryPolicy,
    RunnerContext,
    SimulationError,
)
from flink_agents_subagent._engine.checkpoint import KeyEntry, decode_key_entry, encode_key_entry
from flink_agents_subagent._engine.effects import Append, Effect, Emit, StartCall, WriteMemory
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent._engine.record import decode_record, encode_record
from flink_agents_subagent.testing.job import make_job, source_of
from flink_agents_subagent.testing.simulator import Trial

_counts: Counter[str] = Counter()


class Charged(Event):
    """Sent when the first action is through."""

    receipt: str


async def charge(order: int) -> str:
    """Answer differently each time."""
    _counts["charge"] += 1
    await asyncio.sleep(1)
    return f"receipt {order}/{_counts['charge']}"


def notify(text: str) -> str:
    """Answer at once."""
    return f"notified of {text}"


def flaky(order: int) -> str:
    """Fail each first time."""
    _counts[f"flaky {order}"] += 1
    if _counts[f"flaky {order}"] % 3:
        raise ConnectionError(order)
    return "worked"


def ship(order: int) -> str:
    """Ship without a reconciler."""
    return f"shipped {order}"


async def bill(event: InputEvent, ctx: RunnerContext) -> None:
    """Make calls that depend on each other, and outputs before, between and after them."""
    began = ctx.now()
    ctx.send_event(OutputEvent(output=("began", event.input, began)))
    receipt = await ctx.durable_execute_async(charge, event.input, reconciler=lambda: f"found {event.input}")
    ctx.send_event(OutputEvent(output=("charged", receipt)))
    told, worked = await asyncio.gather(
        ctx.durable_execute_async(charge, receipt),
        ctx.durable_execute_async(flaky, event.input, retry=RetryPolicy(max_attempts=9, initial=timedelta(seconds=5))),
    )
    text = await ctx.durable_execute_async(notify, told)
    count = ctx.short_term_memory.get("count", 0) + 1
    ctx.short_term_memory.set("count", count)
    ctx.send_event(OutputEvent(output=("done", text, worked, count, began)))
    ctx.send_event(Charged(receipt=receipt))


async def deliver(event: Charged, ctx: RunnerContext) -> None:
    """Wait, call once more, and output."""
    await asyncio.sleep(10)
    ctx.send_event(OutputEvent(output=("slept", event.receipt)))
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(ship, 1)))


def account(event: Charged, ctx: RunnerContext) -> None:
    """Call from a `def` action."""
    ctx.send_event(OutputEvent(output=("accounted", ctx.durable_execute(notify, event.receipt))))


def simulate(make_engine: Callable[..., Engine], *, has_def_action: bool, seeds: int = 60) -> None:
    """Try the agent with an engine at every point and with many seeds."""
    agent = Agent("shop").add_action("bill", InputEvent, bill)
    agent.add_action("deliver", Charged, deliver)
    if has_def_action:
        agent.add_action("account", Charged, account)
    job = replace(make_job(agent, {"replay.unclaimed-retention": "36500 d"}), make_engine=make_engine)
    trial = Trial(job, source_of([("ada", 1), ("ada", 1), ("ben", 3)]), "keys")
    for point in range(1, trial.reference.points + 1):
        trial.run(f"point {point}")
    for seed in range(seeds):
        trial.run(f"seed {seed}")


class ActsBeforeAcknowledgement(Engine):
    """Goes on as soon as a record is appended."""

    def take_effects(self) -> list[Effect]:
        """Acknowledge what is appended, and hand over what comes of it as well."""
        effects: list[Effect] = []
        while found := super().take_effects():
            effects += found
            super().acknowledge([effect.seq for effect in found if self._is_early(effect)], 0)
        return effects

    def acknowledge(self, seqs: Iterable[int], now_ms: int) -> None:
        """Do nothing for what went on already."""
        super().acknowledge([seq for seq in seqs if seq not in self._early], now_ms)

    def _is_early(self, effect: Effect) -> bool:
        if isinstance(effect, Append) and self.is_chosen(effect):
            self._early.add(effect.seq)
            return True
        return False

    def is_chosen(self, append: Append) -> bool:
        """Tell whether the fault concerns a record."""
        return _record(append).kind in ("o", "t")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._early: set[int] = set()


class StartsBeforeIntent(ActsBeforeAcknowledgement):
    """Makes a call at the same time as its intent."""

    def is_chosen(self, append: Append) -> bool:
        """Choose intents."""
        return _record(append).kind == "i"

    def take_effects(self) -> list[Effect]:
        """Hand over calls first."""
        return sorted(super().take_effects(), key=lambda effect: not isinstance(effect, StartCall))


class SwapsRecords(Engine):
    """Hands two records of a run to the store in the wrong order."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._held: list[Effect] = []

    def take_effects(self) -> list[Effect]:
        """Hold the first record of a journal back until the second one."""
        effects = super().take_effects()
        for place, effect in enumerate(effects):
            if isinstance(effect, Append) and effect.record_number == 2 and not self._held:
                self._held = [effect]
                return [*effects[:place], *effects[place + 1 :]]
        if self._held and any(isinstance(effect, Append) for effect in effects):
            effects += self._held
        return effects


class Restores(Engine):
    """Base of faults in what is restored."""

    def restore_entry(self, key: bytes, entry: bytes) -> int:
        """Change the entry first."""
        codec = ValueCodec(TypeRegistry({}), allow_pickle=False)
        decoded = decode_key_entry(codec, entry)
        self.change(decoded)
        return super().restore_entry(key, encode_key_entry(codec, decoded))

    def change(self, entry: KeyEntry) -> None:
        """Make the fault."""
        raise NotImplementedError


class SuppressesOneOutputLess(Restores):
    """Forgets the last output that left before the barrier."""

    def change(self, entry: KeyEntry) -> None:
        """Count one less."""
        for execution in entry.run.executions if entry.run else ():
            execution.outputs = max(0, execution.outputs - 1)


class SuppressesOneOutputMore(Restores):
    """Suppresses an output that has not left yet."""

    def change(self, entry: KeyEntry) -> None:
        """Count one more."""
        for execution in entry.run.executions if entry.run else ():
            execution.outputs += 1


class ForgetsWhatFinishedExecutionsDid(Restores):
    """Does not route their events and does not write their memory again."""

    def change(self, entry: KeyEntry) -> None:
        """Empty the logs."""
        for execution in entry.run.executions if entry.run else ():
            execution.log.clear()


class RunsFinishedExecutionsAgain(Restores):
    """Takes a finished execution for one that goes on."""

    def change(self, entry: KeyEntry) -> None:
        """Claim that none has finished."""
        for execution in entry.run.executions if entry.run else ():
            execution.is_finished = False


class ForgetsQueue(Restores):
    """Loses the inputs that wait for the run before them."""

    def change(self, entry: KeyEntry) -> None:
        """Drop them."""
        entry.queue = []


class ForgetsLastRecord(Restores):
    """Loses the last record that the checkpoint holds."""

    def change(self, entry: KeyEntry) -> None:
        """Drop it."""
        if entry.run and entry.run.records:
            entry.run.records.pop()


class ForgetsUnclaimed(Restores):
    """Loses journals that no input has claimed before the barrier."""

    def change(self, entry: KeyEntry) -> None:
        """Drop them."""
        entry.unclaimed = []


class ForgetsStartTime(Restores):
    """Takes the time of the restore for that of the run."""

    def change(self, entry: KeyEntry) -> None:
        """Move it."""
        if entry.run:
            entry.run.started_ms += 1


class TrustsTheStore(Restores):
    """Takes what was on its way to the store for stored."""

    def change(self, entry: KeyEntry) -> None:
        """Call it acknowledged."""
        for record in entry.run.records if entry.run else ():
            record.is_acknowledged = True


class ForgetsTail(Engine):
    """Does not read the store."""

    def restore_record(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Do nothing."""


class ForgetsAttempts(Engine):
    """Grants a fresh budget of attempts after a restore."""

    def restore_record(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Take the count out of failed attempts."""
        record = decode_record(record_number, payload, "a record")
        if record.kind == "a":
            record.attempts = 0
        super().restore_record(key, run_number, record_number, encode_record(record))


class ForgetsIntents(Engine):
    """Calls again although the journal says that the call may have been made."""

    def restore_record(self, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
        """Make a failed attempt of an intent, which is something that no reconciler looks at."""
        record = decode_record(record_number, payload, "a record")
        if record.kind == "i":
            record.kind = "a"
        super().restore_record(key, run_number, record_number, encode_record(record))


class _AfterRestore(Engine):
    """Base of faults that a restored engine has."""

    is_restored = False

    def restore_entry(self, key: bytes, entry: bytes) -> int:
        """Note that this is a restored engine."""
        self.is_restored = True
        return super().restore_entry(key, entry)


class LosesWrites(_AfterRestore):
    """Does not write the memory of restored runs."""

    def take_effects(self) -> list[Effect]:
        """Drop writes."""
        effects = super().take_effects()
        return [effect for effect in effects if not (self.is_restored and isinstance(effect, WriteMemory))]


class RepeatsOutputs(_AfterRestore):
    """Emits everything twice."""

    def take_effects(self) -> list[Effect]:
        """Double outputs."""
        effects = super().take_effects()
        doubled = [
            [effect, effect] if self.is_restored and isinstance(effect, Emit) else [effect] for effect in effects
        ]
        return [effect for pair in doubled for effect in pair]


def _record(append: Append) -> Any:
    return decode_record(append.record_number, append.payload, "a record")


@pytest.mark.parametrize("has_def_action", [False, True])
def test_the_engine_without_a_fault_passes(*, has_def_action: bool) -> None:
    """The agent that finds the faults is not one itself [E8.2]."""
    simulate(Engine, has_def_action=has_def_action, seeds=20)


@pytest.mark.logs_warning
@pytest.mark.parametrize(
    "faulty",
    [
        ActsBeforeAcknowledgement,
        ForgetsAttempts,
        ForgetsIntents,
        ForgetsLastRecord,
        ForgetsQueue,
        ForgetsStartTime,
        ForgetsTail,
        ForgetsUnclaimed,
        ForgetsWhatFinishedExecutionsDid,
        LosesWrites,
        RepeatsOutputs,
        RunsFinishedExecutionsAgain,
        StartsBeforeIntent,
        SuppressesOneOutputLess,
        SuppressesOneOutputMore,
        SwapsRecords,
        TrustsTheStore,
    ],
)
def test_a_faulty_engine_is_found(faulty: type[Engine]) -> None:
    """The simulator goes red for each fault that would break a promise [E1.9, E2.2, E3.6, E3.9, E4.2, E4.4, E4.5, E8.2, S1.2]."""
    # A `def` action waits for the store itself, which by itself would give some faults away.
    with pytest.raises(SimulationError):
        simulate(faulty, has_def_action=False)
