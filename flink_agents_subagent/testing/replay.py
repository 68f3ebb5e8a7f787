"""The oracle of the simulator: what the final journal alone says that a job must have done.

Everything an action can observe is in its journal (E2.2). Whatever crashes and restarts have led to, a process that knows
nothing but the inputs, in the order in which they were taken, and the final journal must therefore come to the same outputs
and the same memory, without making a call or writing a record.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from typing_extensions import override

from flink_agents_subagent._engine.checkpoint import KeyEntry, encode_key_entry
from flink_agents_subagent._engine.effects import Append, StartCall
from flink_agents_subagent._engine.encoding import canonical, input_fingerprint, key_value
from flink_agents_subagent._engine.record import decode_record
from flink_agents_subagent._engine.unclaimed import UnclaimedJournal
from flink_agents_subagent.errors import EncodingError, NotExpressibleError
from flink_agents_subagent.testing.activity import Activity, Observer
from flink_agents_subagent.testing.clock import ManualClock
from flink_agents_subagent.testing.element import Output
from flink_agents_subagent.testing.job import memory_of
from flink_agents_subagent.testing.ledger import Violation
from flink_agents_subagent.testing.process import Job, Process
from flink_agents_subagent.testing.progress import Start
from flink_agents_subagent.testing.state import KeyedState
from flink_agents_subagent.testing.virtual_loop import VirtualLoop
from flink_agents_subagent.testing.world import Checkpoint, World

__all__ = ["check_replay", "check_same"]


def check_replay(job: Job, world: World, loop: VirtualLoop) -> None:
    """Replay the final journal and compare; raises `Violation` at the first difference."""
    final = world.checkpoint
    starts = final.progress.starts
    # As the job's own clock began; the runs then begin in the order of their times.
    clock, start_of_job = ManualClock(), Checkpoint(entries=_unrecorded(job, starts, world))
    empty = World(records=list(world.records), checkpoints=[start_of_job])
    process = Process(job, empty, clock, loop, _ReplayOnly())
    try:
        process.restore([start.element for start in starts])
        for start in starts:
            clock.advance_to(start.time_ms)
            process.perform(Activity.INPUT)
            if process.progress.open_keys():
                key = key_value(start.element.key)
                raise Violation(f"on replay of the final journal a run of key {key!r} waits for what it does not hold")
    finally:
        process.close()
    replayed = Checkpoint(state=process.state, outputs=process.outputs)
    check_same(job, final, replayed, "a replay of the journal")


def check_same(job: Job, made: Checkpoint, expected: Checkpoint, source: str) -> None:
    """Compare outputs per key and memory; raises `Violation` at the first difference, naming `source` as the other side."""
    made_by_key, expected_by_key = _by_key(made.outputs), _by_key(expected.outputs)
    for key in {**made_by_key, **expected_by_key}:
        _check_outputs(key, made_by_key.get(key, []), expected_by_key.get(key, []), source)
    memory, expected_memory = _memory(job, made.state), _memory(job, expected.state)
    for key in {**memory, **expected_memory}:
        if not _is_same(memory.get(key), expected_memory.get(key)):
            raise Violation(
                f"the memory of key {key!r} is {memory.get(key, {})!r}, {source} gives {expected_memory.get(key, {})!r}"
            )


def _unrecorded(job: Job, starts: Iterable[Start], world: World) -> dict[bytes, bytes]:
    """Return, as checkpoint entries, the numbers and times of the runs that are in no journal."""
    known = _known_runs(world)
    unrecorded: dict[bytes, list[UnclaimedJournal]] = {}
    for start in starts:
        key, number = start.element.key, start.run_number
        if number is None or (key, number) in known:
            continue
        # An input without a fingerprint has no use for its number.
        with suppress(EncodingError):
            fingerprint = input_fingerprint(job.decode(start.element.raw))
            unrecorded.setdefault(key, []).append(UnclaimedJournal(number, (), start.time_ms, fingerprint))
    codec = job.codec
    return {key: encode_key_entry(codec, KeyEntry(unclaimed=journals)) for key, journals in unrecorded.items()}


def _known_runs(world: World) -> set[tuple[bytes, int]]:
    known = set()
    for stored in world.records:
        known.add((stored.key, stored.run_number))
        head = decode_record(stored.record_number, stored.payload, "a record").head
        known.update((stored.key, run.run_number) for run in (() if head is None else head.unrecorded))
    return known


class _ReplayOnly(Observer):
    """Refuses whatever the journal should have made unnecessary."""

    @override
    def starting(self, call: StartCall, life: int, run: Start) -> None:
        raise Violation(f"a replay of the final journal calls {call.name}, whose outcome it should hold")

    @override
    def appending(self, append: Append, life: int) -> None:
        raise Violation(
            f"a replay of the final journal adds record {append.record_number} to run {append.run_number} "
            f"of key {key_value(append.key)!r}"
        )


def _by_key(outputs: Iterable[Output]) -> dict[bytes, list[Output]]:
    found: dict[bytes, list[Output]] = {}
    for output in outputs:
        found.setdefault(output.key, []).append(output)
    return found


def _check_outputs(key: bytes, made: list[Output], expected: list[Output], source: str) -> None:
    for place in range(max(len(made), len(expected))):
        mine = made[place] if place < len(made) else None
        theirs = expected[place] if place < len(expected) else None
        if mine is None or theirs is None or not _is_same(tuple(mine), tuple(theirs)):
            raise Violation(
                f"output {place + 1} of key {key_value(key)!r} is {_shown(mine)}, {source} gives {_shown(theirs)}"
            )


def _shown(output: Output | None) -> str:
    return "missing" if output is None else repr(output.value)


def _memory(job: Job, state: KeyedState) -> dict[Any, dict[str, Any]]:
    return memory_of(job, state)


def _is_same(left: object, right: object) -> bool:
    try:
        return canonical(left, strict=True) == canonical(right, strict=True)
    except NotExpressibleError:
        # An output may have any type; its own equality is all there is then.
        return bool(left == right)
