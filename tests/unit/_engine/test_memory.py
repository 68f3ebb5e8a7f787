"""Memory as an action sees it, over a dictionary for keyed state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent._engine.memory import MemoryBuffer, MemoryView
from flink_agents_subagent.errors import ContextMisuseError, NotExpressibleError
from flink_agents_subagent.memory import MemoryObject


@dataclass
class Point:
    """A value of an author's type."""

    x: int
    y: list[int]


class State:
    """Keyed state of one key, and the runs that use it."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.reads: list[str] = []
        self.codec = ValueCodec(TypeRegistry({}), allow_pickle=False)

    def read(self, path: str) -> bytes | None:
        """Read an entry and count it."""
        self.reads.append(path)
        return self.entries.get(path)

    def buffer(self) -> MemoryBuffer:
        """Return what a new run sees."""
        return MemoryBuffer(self.codec, self.read, {})

    def run(self, action: Callable[[MemoryObject], Any]) -> Any:
        """Run an action on the memory and write what it wrote."""
        buffer = self.buffer()
        result = action(view(buffer))
        for path, data in buffer.writes().items():
            if data is None:
                self.entries.pop(path, None)
            else:
                self.entries[path] = data
        return result


def view(buffer: MemoryBuffer) -> MemoryView:
    """Return the whole memory."""
    return MemoryView(buffer, "", lambda: None)


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 3, 2.5, float("inf"), "text", b"bytes", [1, [2]], {"a": {"b": 1}}, (1, "x"), {1, 2}, Point(1, [2])],
)
def test_a_value_comes_back_with_its_type(value: object) -> None:
    """Values of every durable type survive the way to keyed state and back [E6.1]."""
    state = State()

    state.run(lambda memory: memory.set("a.b", value))

    back = state.run(lambda memory: memory.get("a.b"))
    assert back == value
    assert type(back) is type(value)


def test_a_write_is_visible_to_the_run_at_once_and_to_state_at_the_end() -> None:
    """Nothing reaches keyed state before the run ends [E6.2]."""
    state = State()
    buffer = state.buffer()

    view(buffer).set("count", 1)

    assert view(buffer).get("count") == 1
    assert state.entries == {}
    assert set(buffer.writes()) == {"", "count"}


def test_a_container_is_copied_in_and_out() -> None:
    """Changing the object afterwards changes no memory, neither the writer's nor a reader's [E6.1]."""
    memory = view(State().buffer())
    value = {"items": [1]}

    memory.set("value", value)
    value["items"].append(2)
    memory.get("value")["items"].append(3)

    assert memory.get("value") == {"items": [1]}


def test_a_value_that_cannot_be_rebuilt_is_refused_with_both_paths() -> None:
    """The error names the place in memory and the place in the value, and nothing is written [E6.1]."""
    buffer = State().buffer()

    with pytest.raises(NotExpressibleError, match=r"'a\.b'.*\$\.x\[1\]") as caught:
        view(buffer).set("a.b", {"x": [1, object()]})

    assert caught.value.path == "$.x[1]"
    assert buffer.writes() == {}


def test_objects_on_the_way_are_made() -> None:
    """A dotted path needs no objects made before, and each object knows the names below it, sorted [E6.1]."""
    state = State()

    def write(memory: MemoryObject) -> None:
        memory.set("b.y", 1)
        memory.set("b.x", 2)
        memory.set("a", 3)

    state.run(write)

    assert state.run(lambda memory: memory.get_field_names()) == ["a", "b"]
    assert state.run(lambda memory: memory.get("b").get_field_names()) == ["x", "y"]
    fields = state.run(lambda memory: memory.get_fields())
    assert fields["a"] == 3
    assert isinstance(fields["b"], MemoryObject)


def test_removing_an_object_removes_what_is_below_it() -> None:
    """Nothing of it stays in keyed state, and its name leaves the object above [E6.1]."""
    state = State()
    state.run(lambda memory: [memory.set("a.b.c", 1), memory.set("a.d", 2), memory.set("e", 3)])

    removed = state.run(lambda memory: [memory.remove("a"), memory.remove("a"), memory.remove("zzz")])

    assert removed == [True, False, False]
    assert set(state.entries) == {"", "e"}
    assert state.run(lambda memory: memory.get_field_names()) == ["e"]


def test_an_object_is_not_overwritten_by_a_value() -> None:
    """The error says what is there and what to do [E6.1]."""
    memory = view(State().buffer())
    memory.set("a.b", 1)

    with pytest.raises(ContextMisuseError, match=r"object at 'a'.*remove it"):
        memory.set("a", 2)


def test_nothing_is_set_below_a_value() -> None:
    """The value stays, and no half of the path is made [E6.1]."""
    buffer = State().buffer()
    memory = view(buffer)
    memory.set("a", 1)
    before = buffer.writes()

    with pytest.raises(ContextMisuseError, match="value at 'a'"):
        memory.set("a.b.c", 2)

    assert buffer.writes() == before
    assert not memory.is_exist("a.b")


def test_new_object_keeps_an_object_and_replaces_a_value_only_when_told() -> None:
    """An existing object is returned with what is in it [E6.1]."""
    memory = view(State().buffer())
    memory.set("a.b", 1)
    memory.set("v", 1)

    assert memory.new_object("a").get("b") == 1
    with pytest.raises(ContextMisuseError, match="overwrite=True"):
        memory.new_object("v")
    memory.new_object("v", overwrite=True).set("w", 2)
    assert memory.get("v.w") == 2


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b"])
def test_a_path_without_names_is_refused(path: str) -> None:
    """Names are not empty [E6.1]."""
    with pytest.raises(ContextMisuseError, match="non-empty names"):
        view(State().buffer()).get(path)


def test_a_default_is_given_only_where_nothing_is() -> None:
    """A stored None is a value [E6.1]."""
    memory = view(State().buffer())
    memory.set("none", None)

    assert memory.get("none", 5) is None
    assert memory.get("nothing", 5) == 5
    assert memory.is_exist("none") and not memory.is_exist("nothing")


def test_a_path_is_read_once_and_pinned() -> None:
    """A value that disappears from keyed state while the run waits is still there for the run [E6.2]."""
    state = State()
    state.run(lambda memory: memory.set("a", 1))
    state.reads.clear()
    buffer = state.buffer()
    memory = view(buffer)
    first = [memory.get("a"), memory.get("b")]
    state.entries.clear()

    again = [memory.get("a"), memory.get("b")]

    assert first == again == [1, None]
    assert state.reads == ["a", "b"]
    assert set(buffer.reads) == {"a", "b"}


def test_pinned_reads_win_over_state_after_a_restore() -> None:
    """What had expired by the time of the restore is what the run had read [E6.2]."""
    state = State()
    state.run(lambda memory: memory.set("a", 1))
    buffer = state.buffer()
    view(buffer).get("a")
    state.entries.clear()

    restored = MemoryBuffer(state.codec, state.read, buffer.reads)

    assert view(restored).get("a") == 1


def test_writing_an_existing_value_touches_that_value_alone() -> None:
    """The names of a large object are neither read nor written again [PF10]."""
    state = State()
    state.run(lambda memory: [memory.set(f"user.{number}", number) for number in range(100)])
    state.reads.clear()
    buffer = state.buffer()

    view(buffer).set("user.7", 70)

    assert state.reads == ["user.7"]
    assert set(buffer.writes()) == {"user.7"}


def test_names_whose_value_has_expired_are_not_shown() -> None:
    """A time to live ends per path; the object above may live longer [E6.1]."""
    state = State()
    state.run(lambda memory: [memory.set("a.x", 1), memory.set("a.y", 2)])
    del state.entries["a.x"]

    assert state.run(lambda memory: memory.get("a").get_field_names()) == ["y"]


def test_the_log_of_a_visit_repeats_its_writes() -> None:
    """Writes of a finished execution are applied from its log, without its code [E4.5]."""
    state = State()
    first = state.buffer()
    view(first).set("a.b", [1])
    view(first).remove("a")
    log = first.take_visit()
    view(first).set("c", 1)

    second = state.buffer()
    second.replay_visit(log)
    second.replay_visit(first.take_visit())

    assert second.writes() == first.writes()
    assert first.take_visit() == {}
