"""A checkpoint says everything: whoever restores it would take the same one again (E4.1, E4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings

from flink_agents_subagent._engine.checkpoint import decode_key_entry
from flink_agents_subagent._engine.effects import Count, Effect, EnginePorts, Observe, SetTimer, StartCall
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent.testing.job import make_job, source_of
from flink_agents_subagent.testing.simulator import Trial
from tests.simulation import programs as p
from tests.simulation.interpreter import agent_of
from tests.simulation.service import Service
from tests.simulation.strategies import programs

_OPTIONS = {"on-action-error": "dead-letter", "replay.unclaimed-retention": "36500 d"}
_HARMLESS = (Count, Observe, SetTimer, StartCall)

compared: list[int] = []
"""How many entries each snapshot had."""


class ReadOnly:
    """A store that takes nothing."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def commit(self, append: Any) -> NoReturn:
        """Refuse."""
        raise AssertionError(f"a restore makes {append} durable")

    def now(self) -> int:
        """Return the time of the snapshot."""
        return self._now_ms


class TakenTwice(Engine):
    """Restores each of its snapshots, and takes it once more."""

    def __init__(self, agent: Any, options: Any, ports: EnginePorts) -> None:
        super().__init__(agent, options, ports)
        self._given = (agent, options, ports)
        self._entries: dict[bytes, bytes] = {}

    def restore_entry(self, key: bytes, entry: bytes) -> int:
        """Note the entry."""
        self._entries[key] = entry
        return super().restore_entry(key, entry)

    def snapshot(self, now_ms: int) -> Iterator[tuple[bytes, bytes | None]]:
        """Compare."""
        changed = dict(super().snapshot(now_ms))
        self._entries.update({key: entry for key, entry in changed.items() if entry is not None})
        for key in [key for key, entry in changed.items() if entry is None]:
            del self._entries[key]
        self._compare(now_ms)
        return iter(changed.items())

    def _compare(self, now_ms: int) -> None:
        # A run whose records are on their way goes on differently: it waits for the store, or has died with what was on its way.
        settled = {key: entry for key, entry in self._entries.items() if _is_acknowledged(entry)}
        compared.append(len(settled))
        agent, options, ports = self._given
        twin = Engine(agent, options, ports._replace(blocking=ReadOnly(now_ms)))
        for key, entry in settled.items():
            twin.restore_entry(key, entry)
        twin.start(now_ms)
        effects: list[Effect] = twin.take_effects()
        again = {key: entry for key, entry in twin.snapshot(now_ms) if entry is not None}
        twin.close()

        assert [effect for effect in effects if not isinstance(effect, _HARMLESS)] == []
        assert again == settled


def _is_acknowledged(entry: bytes) -> bool:
    run = decode_key_entry(ValueCodec(TypeRegistry({}), allow_pickle=False), entry).run
    return run is None or all(record.is_acknowledged for record in run.records)


@pytest.mark.logs_warning
@pytest.mark.timeout(600)
@settings(max_examples=40 if settings().max_examples < 1000 else settings().max_examples)
@given(programs())
def test_a_restored_snapshot_gives_the_same_snapshot(program: p.Program) -> None:
    """And neither an output, nor a record, nor a write, nor an end of an input [E1.9, E4.1, E4.2, E4.5, E6.2]."""
    # Calls that wait for each other begin as soon as others are not there, and not every key is restored.
    service = Service(max_concurrency=None)
    job = replace(make_job(agent_of(program, service), _OPTIONS), make_engine=TakenTwice)
    trial = Trial(job, source_of(program.inputs), "keys")

    for seed in range(4):
        trial.run(f"seed {seed}")

    assert compared
