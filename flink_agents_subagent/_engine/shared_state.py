"""What the executions of a run, or of an internal sub-agent call, share: memory, and what the run may still call. Must not know records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.guards import NOTHING_ADMITTED, Guards
from flink_agents_subagent._engine.memory import Entry, MemoryBuffer

if TYPE_CHECKING:
    from flink_agents_subagent._engine.execution import VisitLog

__all__ = ["SharedState"]

_NOTHING_WRITTEN: Mapping[str, Entry] = {}


class SharedState:
    """The shared state of one run or call; each part is made when it is first asked for.

    Thread: task thread.
    """

    __slots__ = ("_core", "_guards", "_key", "_sensory", "_short_term")

    def __init__(self, core: EngineCore, key: bytes, reads: Mapping[str, bytes | None]) -> None:
        """Take what was read from the memory of the key before a restore."""
        self._core = core
        self._key: bytes | None = key
        self._short_term = self._buffer(reads) if reads else None
        self._sensory: MemoryBuffer | None = None
        self._guards: Guards | None = None

    @classmethod
    def of_call(cls, core: EngineCore, run: SharedState) -> SharedState:
        """Return that of an internal sub-agent call: no state of the key behind its memory (N2), the limits of the run (G2)."""
        made = cls(core, b"", {})
        made._key = None
        made._guards = run.guards
        return made

    @property
    def short_term(self) -> MemoryBuffer:
        """The memory of the key as the run sees it."""
        if self._short_term is None:
            self._short_term = self._buffer({})
        return self._short_term

    @property
    def sensory(self) -> MemoryBuffer:
        """The memory of the run."""
        if self._sensory is None:
            self._sensory = MemoryBuffer(self._core.codec, None, {})
        return self._sensory

    @property
    def guards(self) -> Guards:
        """What the run may still call (G1–G3)."""
        if self._guards is None:
            settings = self._core.settings
            self._guards = Guards(settings.max_subagent_calls, settings.max_subagent_depth)
        return self._guards

    @property
    def reads(self) -> Mapping[str, bytes | None]:
        """What was read from the memory of the key (E6.2)."""
        return {} if self._short_term is None else self._short_term.reads

    def writes(self) -> dict[str, bytes | None]:
        """Return everything that was written to the memory of the key, encoded."""
        return {} if self._short_term is None else self._short_term.writes()

    def take_visit(self) -> tuple[Mapping[str, Entry], Mapping[str, Entry], Mapping[str, int]]:
        """Return what was written to either memory, and admitted, since the last time: for the log of a visit."""
        return (
            _NOTHING_WRITTEN if self._short_term is None else self._short_term.take_visit(),
            _NOTHING_WRITTEN if self._sensory is None else self._sensory.take_visit(),
            NOTHING_ADMITTED if self._guards is None else self._guards.take_visit(),
        )

    def replay_visit(self, visit: VisitLog) -> None:
        """Do again what a finished execution did in a visit."""
        if visit.short_term:
            self.short_term.replay_visit(visit.short_term)
        if visit.sensory:
            self.sensory.replay_visit(visit.sensory)
        if visit.admitted:
            self.guards.replay_visit(visit.admitted)

    def _buffer(self, reads: Mapping[str, bytes | None]) -> MemoryBuffer:
        core, key = self._core, self._key
        if key is None:
            return MemoryBuffer(core.codec, None, {})
        return MemoryBuffer(
            core.codec, lambda path: core.read_memory(key, path), reads, expires=core.settings.memory_expires
        )
