"""YAML text → nodes. Owns reading: bounded, and without types, because the events of the parser are read, not its objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

from flink_agents_subagent._descriptor.node import Entry, Node, Scalar
from flink_agents_subagent._descriptor.problem import Position, Problems
from flink_agents_subagent._descriptor.scalar import resolve_scalar

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "read_document"]

MAX_BYTES = 1 << 20
MAX_DEPTH = 50
MAX_VALUES = 20_000
"""Values of a file, those of an alias counted each time that it is used."""

Opening: TypeAlias = ScalarEvent | SequenceStartEvent | MappingStartEvent

_START = Position(1, 1)
_MERGE = "<<"


def read_document(data: bytes, problems: Problems) -> Node | None:
    """Return the one document of a file, None when it cannot be read at all.

    Guarantee: bounded by `MAX_BYTES`, `MAX_DEPTH` and `MAX_VALUES`, aliases included. What is wrong is in `problems`.
    """
    text = _decoded(data, problems)
    if text is None:
        return None
    try:
        return _Reader(_events(text), problems).document()
    except _UnreadableError as error:
        problems.add(error.position, error.message)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        problems.add(_START if mark is None else _position(mark), f"this is no YAML: {error.problem}{context}")
    except ReaderError as error:
        before = text[: error.position]
        position = Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        shown = f"{error.character:04X}"
        problems.add(position, f"the character U+{shown} cannot stand in YAML; write it as \\u{shown} in double quotes")
    except YAMLError as error:
        problems.add(_START, f"this is no YAML: {error}")
    return None


class _UnreadableError(Exception):
    """Reading cannot go on."""

    def __init__(self, position: Position, message: str) -> None:
        super().__init__(message)
        self.position = position
        self.message = message


class _Reader:
    """Makes nodes of events."""

    def __init__(self, events: Iterator[Event], problems: Problems) -> None:
        self._events = events
        self._problems = problems
        self._anchors: dict[str, Node] = {}
        self._values = 0

    def document(self) -> Node | None:
        """Read the document; a second one is not read."""
        root: Node | None = None
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                if root is not None:
                    raise _UnreadableError(
                        _position(event.start_mark), "a file holds one document; list all agents under 'agents'"
                    )
                if event.version not in (None, (1, 2)):
                    self._problems.add(_START, "the file is read as YAML 1.2; leave out the %YAML directive")
                root = self._node(next(self._events), 1)
            elif isinstance(event, StreamEndEvent) and root is None:
                raise _UnreadableError(_START, "the file is empty; it needs 'agents'")
        return root

    def _node(self, event: Event, depth: int) -> Node:
        position = _position(event.start_mark)
        self._check_depth(depth, position)
        if isinstance(event, AliasEvent):
            node = self._anchors.get(event.anchor)
            if node is None:
                raise _UnreadableError(position, f"the alias *{event.anchor} has no anchor &{event.anchor} before it")
            self._check_depth(depth + node.height - 1, position)
            self._count(node.size, position)
            return node
        # The parser sends nothing else where a value may begin.
        opening = cast("Opening", event)
        self._count(1, position)
        if opening.tag is not None:
            self._problems.add(
                position, f"the tag {opening.tag} makes nothing here; write the value without it, a text in quotes"
            )
        node = self._untagged(opening, position, depth)
        if opening.anchor is not None:
            self._anchors[opening.anchor] = node
        return node

    def _untagged(self, event: Opening, position: Position, depth: int) -> Node:
        match event:
            case ScalarEvent():
                return Node(position, self._scalar(event, position))
            case SequenceStartEvent():
                elements = list(self._sequence(depth + 1))
                return _around(position, elements, elements)
            case MappingStartEvent():
                entries = self._mapping(depth + 1)
                return _around(position, entries, [entry.value for entry in entries.values()])

    def _sequence(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self._events), SequenceEndEvent):
            yield self._node(event, depth)

    def _mapping(self, depth: int) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            is_merge = isinstance(event, ScalarEvent) and event.value == _MERGE and not event.style
            key, value = self._node(event, depth), self._node(next(self._events), depth)
            if is_merge:
                self._merge(merged, value)
            elif not isinstance(key.content, str):
                self._problems.add(key.position, f"the key {_shown(key.content)} is no text; put it in quotes")
            elif key.content in entries:
                first = entries[key.content].key
                self._problems.add(
                    key.position,
                    f"the key {key.content!r} is there twice, first in line {first.line}; leave one of them out",
                )
            else:
                entries[key.content] = Entry(key.position, value)
        return {**merged, **entries}

    def _merge(self, merged: dict[str, Entry], value: Node) -> None:
        """Add the entries of the mappings after `<<`; the first that has a key gives its value."""
        several = value.content if isinstance(value.content, list) else [value]
        for node in several:
            if not isinstance(node.content, dict):
                self._problems.add(node.position, "'<<' takes a mapping or a list of mappings, as in '<<: *defaults'")
                continue
            for key, entry in node.content.items():
                merged.setdefault(key, entry)

    def _scalar(self, event: ScalarEvent, position: Position) -> Scalar:
        text: str = event.value
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            self._problems.add(position, "a text holds half of a surrogate pair; write the character itself")
            return ""
        if event.style or event.tag is not None:
            return text
        try:
            return resolve_scalar(text)
        except ValueError as error:
            self._problems.add(position, str(error))
            return text

    def _check_depth(self, depth: int, position: Position) -> None:
        if depth > MAX_DEPTH:
            raise _UnreadableError(position, f"values are nested more than {MAX_DEPTH} deep, aliases included")

    def _count(self, values: int, position: Position) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            raise _UnreadableError(
                position,
                f"the file holds more than {MAX_VALUES} values, those of aliases counted; split it, or use fewer aliases",
            )


def _events(text: str) -> Iterator[Event]:
    last = _START
    try:
        # `pure`: the parser in C neither ships with every wheel nor reads YAML 1.2.
        for event in YAML(typ="safe", pure=True).parse(text):
            last = _position(event.end_mark)
            yield event
    except (ValueError, OverflowError) as error:
        # From the parser's `chr`, which does not tell where.
        raise _UnreadableError(last, f"behind this, an escape in double quotes is no character: {error}") from error


def _decoded(data: bytes, problems: Problems) -> str | None:
    if len(data) > MAX_BYTES:
        problems.add(_START, f"the file has {len(data)} bytes; {MAX_BYTES} are allowed, so split it")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8-sig")) + 1
        problems.add(Position(line, column), f"the byte {data[error.start]:#04x} is no UTF-8; save the file as UTF-8")
        return None


def _around(position: Position, content: list[Node] | dict[str, Entry], values: Sequence[Node]) -> Node:
    size, height = sum(node.size for node in values), max((node.height for node in values), default=0)
    return Node(position, content, 1 + size, 1 + height)


def _position(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _shown(content: object) -> str:
    return "that is a mapping or a list" if isinstance(content, dict | list) else repr(content)
