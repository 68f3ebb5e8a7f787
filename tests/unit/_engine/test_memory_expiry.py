"""Memory with a time to live: entries expire one by one, and the tree must stay one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.memory import MemoryBuffer, MemoryView
from flink_agents_subagent._engine.settings import EngineSettings
from flink_agents_subagent.memory import MemoryObject
from flink_agents_subagent.options import resolve_options

TTL = 100


class ExpiringState:
    """Keyed state of one key. Time goes by with every write, as it does for Flink."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, bytes]] = {}
        self.now = 0
        self.codec = ValueCodec(TypeRegistry({}), allow_pickle=False)

    def read(self, path: str) -> bytes | None:
        """Read an entry that has not expired."""
        written, data = self.entries.get(path, (0, None))
        return data if self.now - written < TTL else None

    def run(self, action: Callable[[MemoryObject], Any]) -> Any:
        """Run an action on the memory and write what it wrote."""
        buffer = MemoryBuffer(self.codec, self.read, {}, expires=True)
        result = action(MemoryView(buffer, "", lambda: None))
        for path, data in buffer.writes().items():
            self.now += 1
            if data is None:
                self.entries.pop(path, None)
            else:
                self.entries[path] = (self.now, data)
        return result


def tree(memory: MemoryObject) -> Any:
    """Return everything that can be reached from the top."""
    return {
        name: tree(value) if isinstance(value, MemoryObject) else value for name, value in memory.get_fields().items()
    }


def test_an_object_does_not_expire_before_what_is_in_it() -> None:
    """A value that is written again and again keeps the objects above it alive, however old they are [E6.1]."""
    state = ExpiringState()
    state.run(lambda memory: [memory.set("user.seen.first", 1), memory.set("user.name", "ada")])
    for number in range(5):
        state.now += TTL - 20
        state.run(lambda memory, number=number: memory.set("user.seen.first", number))

    assert state.run(tree) == {"user": {"seen": {"first": 4}}}


def test_a_value_is_never_reachable_by_its_path_alone() -> None:
    """What `get` gives, `get_fields` shows and `remove` of the object removes, at every moment [E6.1]."""
    state = ExpiringState()
    state.run(lambda memory: memory.set("user.seen.last", 0))
    state.now += TTL - 20
    state.run(lambda memory: memory.set("user.seen.last", 1))

    for _ in range(TTL + 10):
        state.now += 1
        by_path = state.run(lambda memory: memory.get("user.seen.last"))
        # Objects that have become empty may stay a moment longer.
        in_tree = state.run(tree).get("user", {}).get("seen", {}).get("last")
        assert in_tree == by_path

    state.run(lambda memory: memory.set("user.seen.last", 2))
    assert state.run(lambda memory: memory.remove("user")) is True
    assert state.run(lambda memory: memory.get("user.seen.last")) is None


def test_names_of_what_has_expired_do_not_pile_up() -> None:
    """An object into which new names are written for ever holds about as many as are alive [E6.1, PF10]."""
    state = ExpiringState()
    for number in range(2000):
        state.run(lambda memory, number=number: memory.set(f"orders.{number}", number))

    alive = len(state.run(tree)["orders"])
    names = len(json.loads(state.entries["orders"][1][1:]))

    assert 30 <= alive <= names <= 3 * alive


def test_names_that_are_alive_for_the_run_are_kept() -> None:
    """A value that it has read or written stays in its object, although it has expired meanwhile [E6.2]."""
    state = ExpiringState()
    state.run(lambda memory: memory.set("orders.0", 0))
    buffer = MemoryBuffer(state.codec, state.read, {}, expires=True)
    memory = MemoryView(buffer, "", lambda: None)
    assert memory.get("orders.0") == 0
    memory.set("orders.1", 1)
    state.now += TTL

    for number in range(2, 50):
        memory.set(f"orders.{number}", number)

    assert memory.get("orders").get_fields() == {str(number): number for number in range(50)}


def test_without_a_time_to_live_nothing_is_touched_twice() -> None:
    """The option decides [E6.1, PF10]."""
    defaults = resolve_options({})
    with_ttl = resolve_options({"short-term-memory.ttl": "1 h"})

    assert EngineSettings.from_options("job", "uid", defaults).memory_expires is False
    assert EngineSettings.from_options("job", "uid", with_ttl).memory_expires is True
