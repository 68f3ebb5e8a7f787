"""Numbers of runs: what the engine knows of them without asking keyed state."""

from __future__ import annotations

import pytest

from flink_agents_subagent._engine import core
from flink_agents_subagent._engine.effects import WriteRunNumber
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.events import InputEvent
from tests.unit._engine.host import Host, agent_of


class Reads(Host):
    """Notes which keys' numbers were read from keyed state."""

    keys_read: list[bytes]

    def run_number(self, key: bytes) -> int:
        """Read the run number of keyed state."""
        self.keys_read.append(key)
        return super().run_number(key)


def identified(event: InputEvent, ctx: RunnerContext) -> None:
    """Need a number."""
    ctx.uuid4()


def _host() -> Reads:
    Reads.keys_read = []
    return Reads(agent_of(identified))


def test_the_number_of_a_key_is_read_once() -> None:
    """Later runs of the key count on from what the engine wrote itself [E5.2, PF2]."""
    host = _host()
    host.disk.run_numbers[b"sa"] = 7

    for _ in range(3):
        host.input(1, "a")

    assert host.keys_read == [b"sa"]
    assert [effect.run_number for effect in host.of(WriteRunNumber)] == [8, 9, 10]


def test_numbers_of_many_keys_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine remembers is bounded; a forgotten number is read again, and nothing is given twice [E5.2, PF10]."""
    monkeypatch.setattr(core, "_MAX_NUMBERS", 2)
    host = _host()

    for key in ("a", "b", "c", "a", "b", "c"):
        host.input(1, key)

    assert host.keys_read == [b"sa", b"sb", b"sc", b"sa", b"sb", b"sc"]
    assert [effect.run_number for effect in host.of(WriteRunNumber)] == [1, 1, 1, 2, 2, 2]
