"""Flink keyed state in process. Owns entries by key and path; must not know what they mean."""

from __future__ import annotations

from flink_agents_subagent._engine.effects import WriteMemory, WriteRunNumber

__all__ = ["KeyedState"]


class KeyedState:
    """Memory entries and run numbers by key; the engine reads through it."""

    __slots__ = ("memory", "numbers")

    def __init__(self) -> None:
        """Start empty."""
        self.memory: dict[bytes, dict[str, bytes]] = {}
        self.numbers: dict[bytes, int] = {}

    def read(self, key: bytes, path: str) -> bytes | None:
        """Return the entry at a path of a key, None when there is none."""
        return self.memory.get(key, {}).get(path)

    def run_number(self, key: bytes) -> int:
        """Return the highest run number of a key, 0 when it has none."""
        return self.numbers.get(key, 0)

    def write(self, effect: WriteMemory) -> None:
        """Write and remove entries."""
        entries = self.memory.setdefault(effect.key, {})
        for path, data in effect.entries.items():
            if data is None:
                entries.pop(path, None)
            else:
                entries[path] = data

    def write_number(self, effect: WriteRunNumber) -> None:
        """Keep a run number."""
        self.numbers[effect.key] = effect.run_number

    def copy(self) -> KeyedState:
        """Return an independent copy, as a checkpoint holds it."""
        twin = KeyedState()
        twin.memory = {key: dict(entries) for key, entries in self.memory.items()}
        twin.numbers = dict(self.numbers)
        return twin
