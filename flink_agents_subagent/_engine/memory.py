"""Memory of a run: a buffer over keyed state, and the tree of paths that actions see (E6). Must not know Flink or runs.

Keyed state holds one entry per path. A value's entry is the value; an object's entry is the sorted names below it, so that
`get_field_names` reads one entry, and writing a value that exists touches that value alone. If entries expire, a write touches
the objects above it too, so that none of them goes before what is in it; and names of which nothing is left are dropped by and by.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias
from zlib import crc32

from flink_agents_subagent._engine.encoding import ValueCodec
from flink_agents_subagent._engine.encoding.framing import dump_json, load_json
from flink_agents_subagent.errors import ContextMisuseError, EncodingError, NotExpressibleError
from flink_agents_subagent.memory import MemoryObject

__all__ = ["Entry", "MemoryBuffer", "MemoryView", "decode_entry", "encode_entry"]

_VALUE: Final = b"v"
_OBJECT: Final = b"o"
_SCALARS = frozenset({type(None), bool, int, float, str, bytes})
_UNKNOWN: Final = object()
ROOT: Final = ""


class _Leaf:
    """A value. A plain one is kept as it is; a container only as bytes, so that each reader gets its own copy."""

    __slots__ = ("data", "plain")

    def __init__(self, plain: object, data: bytes | None) -> None:
        self.plain = plain
        self.data = data


class _Names:
    """An object: the names below it, sorted."""

    __slots__ = ("names",)

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def has(self, name: str) -> bool:
        place = bisect_left(self.names, name)
        return place < len(self.names) and self.names[place] == name


Entry: TypeAlias = "_Leaf | _Names | None"
"""What is at a path; None when nothing is."""


class MemoryBuffer:
    """The memory that one run sees: what it read, pinned, under what it wrote.

    Guarantee: a path is read from keyed state once per run; what was read is kept for the run's checkpoint entry (E6.2).
    Thread: task thread.
    """

    __slots__ = ("_codec", "_dirty", "_entries", "_read", "_visit", "expires", "reads")

    def __init__(
        self,
        codec: ValueCodec,
        read: Callable[[str], bytes | None] | None,
        reads: Mapping[str, bytes | None],
        *,
        expires: bool = False,
    ) -> None:
        """Read through `read`, None for memory that lives no longer than its run.

        Args:
            codec: Encodes values.
            read: Returns the bytes at a path.
            reads: What was pinned before a restore.
            expires: Whether keyed state drops an entry some time after its last write.
        """
        self.expires = expires
        self._codec = codec
        self._read = read
        self.reads = dict(reads)
        self._entries: dict[str, Entry] = {}
        self._dirty: dict[str, None] = {}
        self._visit: dict[str, Entry] = {}

    def entry(self, path: str) -> Entry:
        """Return what the run sees at a path."""
        entry = self._entries.get(path, _UNKNOWN)
        if entry is _UNKNOWN:
            entry = self._entries[path] = self._fetch(path)
        return entry  # type: ignore[return-value]  # the sentinel is gone

    def write(self, path: str, entry: Entry) -> None:
        """Change what is at a path."""
        self._entries[path] = self._visit[path] = entry
        self._dirty[path] = None

    def take_visit(self) -> dict[str, Entry]:
        """Return what was written since the last call: the log of a visit (E4.5). Entries never change, so it needs no copy."""
        visit, self._visit = self._visit, {}
        return visit

    def replay_visit(self, writes: Mapping[str, Entry]) -> None:
        """Write again what a finished execution wrote in a visit."""
        self._entries.update(writes)
        self._dirty.update(dict.fromkeys(writes))

    def writes(self) -> dict[str, bytes | None]:
        """Return everything that the run wrote, encoded."""
        # What is in an object first: it must not be written later, and expire later, than the object.
        paths = sorted(self._dirty, key=len, reverse=True) if self.expires else self._dirty
        return {path: encode_entry(self._codec, self._entries[path]) for path in paths}

    def is_gone(self, path: str) -> bool:
        """Tell whether nothing is at a path, for all that the run knows; does not pin what is there."""
        if path in self._entries:
            return self._entries[path] is None
        data = self.reads[path] if path in self.reads else self._read(path) if self._read is not None else None
        return data is None

    def leaf(self, value: object) -> _Leaf:
        """Return the entry of a value; refuses what cannot be rebuilt, with its path inside the value."""
        if type(value) in _SCALARS:
            return _Leaf(value, None)
        return _Leaf(None, self._codec.express(value))

    def value(self, leaf: _Leaf) -> Any:
        """Return a value that the caller may keep and change."""
        return leaf.plain if leaf.data is None else self._codec.decode(leaf.data)

    def _fetch(self, path: str) -> Entry:
        if self._read is None:
            return None
        data = self.reads.get(path, _UNKNOWN)
        if data is _UNKNOWN:
            data = self.reads[path] = self._read(path)
        return decode_entry(self._codec, path, data)  # type: ignore[arg-type]  # the sentinel is gone


def encode_entry(codec: ValueCodec, entry: Entry) -> bytes | None:
    """Return the bytes of an entry as keyed state holds them."""
    if entry is None:
        return None
    if isinstance(entry, _Names):
        return _OBJECT + dump_json(entry.names)
    return _VALUE + (codec.encode(entry.plain) if entry.data is None else entry.data)


def decode_entry(codec: ValueCodec, path: str, data: bytes | None) -> Entry:
    """Return the entry with these bytes."""
    if data is None:
        return None
    tag, body = data[:1], data[1:]
    if tag == _OBJECT:
        return _Names(load_json(body))
    if tag == _VALUE:
        value = codec.decode(body)
        return _Leaf(value, None) if type(value) in _SCALARS else _Leaf(None, body)
    raise EncodingError(f"the memory at {path!r} has an unknown form (it starts with {data[:40]!r})")


class MemoryView(MemoryObject):
    """An object of a run's memory. Without state of its own: a removed object's view shows nothing."""

    __slots__ = ("_buffer", "_check", "_path")

    def __init__(self, buffer: MemoryBuffer, path: str, check: Callable[[], None]) -> None:
        """Show what is below `path`; `check` raises when the caller may not use memory now."""
        self._buffer = buffer
        self._path = path
        self._check = check

    def get(self, path: str, default: Any = None) -> Any:
        """See `MemoryObject.get`."""
        self._check()
        full = self._resolve(path)
        entry = self._buffer.entry(full)
        if entry is None:
            return default
        return self._show(full, entry)

    def set(self, path: str, value: Any) -> None:
        """See `MemoryObject.set`."""
        self._check()
        full = self._resolve(path)
        before = self._buffer.entry(full)
        if isinstance(before, _Names):
            raise ContextMisuseError(f"there is an object at {full!r} in memory; remove it before a value is set there")
        try:
            leaf = self._buffer.leaf(value)
        except NotExpressibleError as error:
            raise NotExpressibleError(f"memory at {full!r}: {error}", error.path) from error
        if before is None or self._buffer.expires:
            self._link(full)
        self._buffer.write(full, leaf)

    def remove(self, path: str) -> bool:
        """See `MemoryObject.remove`."""
        self._check()
        full = self._resolve(path)
        entry = self._buffer.entry(full)
        if entry is None:
            return False
        for below in self._below(full, entry):
            self._buffer.write(below, None)
        parent, name = _split(full)
        names = self._buffer.entry(parent)
        if isinstance(names, _Names) and names.has(name):
            self._buffer.write(parent, _Names([kept for kept in names.names if kept != name]))
        return True

    def is_exist(self, path: str) -> bool:
        """See `MemoryObject.is_exist`."""
        self._check()
        return self._buffer.entry(self._resolve(path)) is not None

    def get_field_names(self) -> list[str]:
        """See `MemoryObject.get_field_names`."""
        self._check()
        return [name for name, _, _ in self._fields()]

    def get_fields(self) -> dict[str, Any]:
        """See `MemoryObject.get_fields`."""
        self._check()
        return {name: self._show(full, entry) for name, full, entry in self._fields()}

    def new_object(self, path: str, overwrite: bool = False) -> MemoryObject:
        """See `MemoryObject.new_object`."""
        self._check()
        full = self._resolve(path)
        entry = self._buffer.entry(full)
        if isinstance(entry, _Leaf) and not overwrite:
            raise ContextMisuseError(
                f"there is a value at {full!r} in memory; pass overwrite=True to replace it by an object"
            )
        if not isinstance(entry, _Names):
            if entry is None:
                self._link(full)
            self._buffer.write(full, _Names([]))
        return MemoryView(self._buffer, full, self._check)

    def _resolve(self, path: str) -> str:
        if not isinstance(path, str):
            raise TypeError(f"a memory path is a str, not {type(path).__name__}")
        if not path or path[0] == "." or path[-1] == "." or ".." in path:
            raise ContextMisuseError(f"{path!r} is not a memory path: it takes non-empty names joined by dots")
        return f"{self._path}.{path}" if self._path else path

    def _show(self, full: str, entry: _Leaf | _Names) -> Any:
        if isinstance(entry, _Names):
            return MemoryView(self._buffer, full, self._check)
        return self._buffer.value(entry)

    def _fields(self) -> Iterator[tuple[str, str, _Leaf | _Names]]:
        entry = self._buffer.entry(self._path)
        if not isinstance(entry, _Names):
            return
        for name in entry.names:
            full = f"{self._path}.{name}" if self._path else name
            below = self._buffer.entry(full)
            # A time to live ends per path: the object may outlive what was in it.
            if below is not None:
                yield name, full, below

    def _link(self, full: str) -> None:
        """Make the objects on the way to a new path, and add each name to the object above it."""
        linked: dict[str, _Names] = {}
        while full != ROOT:
            parent, name = _split(full)
            entry = self._buffer.entry(parent)
            if isinstance(entry, _Leaf):
                raise ContextMisuseError(
                    f"there is a value at {parent!r} in memory, so that nothing can be set below it"
                )
            if entry is None:
                linked[parent] = _Names([name])
            elif not entry.has(name):
                names = self._without_gone(parent, entry.names, full) if self._buffer.expires else list(entry.names)
                names.insert(bisect_left(names, name), name)
                linked[parent] = _Names(names)
            elif self._buffer.expires:
                linked[parent] = entry
            else:
                break
            full = parent
        for parent, names_entry in linked.items():
            self._buffer.write(parent, names_entry)

    def _without_gone(self, parent: str, names: list[str], added: str) -> list[str]:
        """Return names without some of those that have expired: looking at two for each one added keeps most of them alive."""
        draw = crc32(added.encode("utf-8", "surrogatepass"))
        looked_at = {names[draw % len(names)], names[(draw >> 16) % len(names)]} if names else set()
        gone = {name for name in looked_at if self._buffer.is_gone(f"{parent}.{name}" if parent else name)}
        return [name for name in names if name not in gone]

    def _below(self, full: str, entry: _Leaf | _Names) -> Iterator[str]:
        yield full
        if isinstance(entry, _Names):
            for name in entry.names:
                path = f"{full}.{name}"
                below = self._buffer.entry(path)
                if below is not None:
                    yield from self._below(path, below)


def _split(full: str) -> tuple[str, str]:
    parent, _, name = full.rpartition(".")
    return parent, name
