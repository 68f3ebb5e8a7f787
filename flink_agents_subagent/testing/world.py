"""What outlives a process: the source, the store, the calls that were made, the last complete checkpoint.

A simulated crash throws the process away and keeps the world. Owns no behaviour of either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flink_agents_subagent._engine.effects import Append, CallOrigin
from flink_agents_subagent.testing.element import Output, SourceInput
from flink_agents_subagent.testing.progress import Progress
from flink_agents_subagent.testing.state import KeyedState

__all__ = ["Checkpoint", "Invocation", "StoredRecord", "World"]


class StoredRecord(NamedTuple):
    """One record as the store keeps it."""

    key: bytes
    run_number: int
    record_number: int
    payload: bytes
    life: int
    """Which process appended it, from 1."""


@dataclass(slots=True)
class Invocation:
    """A function that was really called."""

    name: str
    origin: CallOrigin | None
    life: int
    """Which process called it, from 1."""
    value: Any = None
    error: BaseException | None = None
    is_done: bool = False
    is_cancelled: bool = False


@dataclass(slots=True)
class Checkpoint:
    """A complete checkpoint: all state at one barrier."""

    entries: dict[bytes, bytes] = field(default_factory=dict)
    state: KeyedState = field(default_factory=KeyedState)
    position: int = 0
    """How many records of the store lie before the barrier."""
    queued: frozenset[tuple[int, bytes, int, int]] = frozenset()
    """Life, key, run and number of the records that were on their way to the store: they lie before the barrier, if they arrive."""
    progress: Progress = field(default_factory=Progress)
    outputs: list[Output] = field(default_factory=list)
    """Committed with the checkpoint: what is emitted after it disappears with the process."""


@dataclass(slots=True)
class World:
    """All that a crash leaves behind."""

    source: list[SourceInput] = field(default_factory=list)
    records: list[StoredRecord] = field(default_factory=list)
    invocations: list[Invocation] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=lambda: [Checkpoint()])
    """The complete ones that are retained, the last one last; the first is the empty start of the job."""
    lives: int = 0

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that the next life is restored from."""
        return self.checkpoints[-1]

    def complete(self, checkpoint: Checkpoint) -> None:
        """Keep a complete checkpoint, and the one before it."""
        self.checkpoints = [*self.checkpoints[-1:], checkpoint]

    def roll_back(self) -> None:
        """Forget the last checkpoint, if there is one before it: somebody restores an earlier, retained one."""
        del self.checkpoints[1:]

    def store(self, append: Append, life: int) -> None:
        """Make a record durable."""
        self.records.append(StoredRecord(append.key, append.run_number, append.record_number, append.payload, life))

    def tail(self) -> list[StoredRecord]:
        """Return the records behind the last checkpoint's barrier."""
        checkpoint = self.checkpoint
        return [
            record
            for record in self.records[checkpoint.position :]
            if (record.life, record.key, record.run_number, record.record_number) not in checkpoint.queued
        ]

    def remaining(self) -> list[SourceInput]:
        """Return the inputs behind the last checkpoint's barrier, in source order."""
        delivered = set(self.checkpoint.progress.delivered)
        return [element for element in self.source if element.number not in delivered]
