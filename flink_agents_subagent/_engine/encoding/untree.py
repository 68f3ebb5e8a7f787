"""From a tree of plain JSON and byte frames back to the value (decision 0002). The way there is `tree.py`."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from flink_agents_subagent._engine.encoding import arrays, exceptions, zones
from flink_agents_subagent._engine.encoding.kinds import Kind, Record, kind_of
from flink_agents_subagent._engine.encoding.registry import TypeRegistry
from flink_agents_subagent.errors import DurableCallError, EncodingError

__all__ = ["TreeReader"]


class TreeReader:
    """Rebuilds one value after the other; tagged parts are rebuilt from the inside outwards."""

    __slots__ = ("_decode", "_frames", "_registry", "_unpickle")

    def __init__(self, registry: TypeRegistry, unpickle: Callable[[bytes], object] | None) -> None:
        """Rebuild with these names; without `unpickle` a pickled part is refused."""
        self._registry = registry
        self._frames: list[bytes] = []
        self._unpickle = unpickle
        self._decode = json.JSONDecoder(object_hook=self._rebuild).raw_decode

    def value(self, text: bytes, frames: list[bytes]) -> Any:
        """Return the value of JSON text and the frames that it refers to."""
        self._frames = frames
        decoded = text.decode("utf-8")
        # As in `load_json`: without looking for a byte order mark and for spaces.
        try:
            value, end = self._decode(decoded)
        finally:
            # They may be large, and the next value may be long in coming.
            self._frames = []
        if end != len(decoded):
            raise ValueError(f"{len(decoded) - end} characters behind the value")
        return value

    def _rebuild(self, tree: dict[str, Any]) -> Any:
        if len(tree) != 1:
            return tree
        ((tag, body),) = tree.items()
        if tag[:1] != "$":
            return tree
        read = _READERS.get(tag)
        if read is None:
            raise EncodingError(f"a recorded value has the form {tag!r}, which this version does not know")
        return read(self, body)

    def frame(self, index: int) -> bytes:
        return self._frames[index]

    def resolve(self, name: str, kind: Kind) -> Any:
        cls = self._registry.resolve(name)
        if self._registry.kind_of(cls) is not kind:
            raise EncodingError(f"{name} was recorded as a {kind.value} and is a {kind_of(cls).value} now")
        return cls

    def pickled(self, index: int) -> object:
        if self._unpickle is None:
            raise EncodingError(
                "a recorded value is pickled, and `journal.pickle` is `deny`; "
                "allow it if nobody else can write to the store"
            )
        return self._unpickle(self._frames[index])

    def model(self, name: str, fields: Any, fields_set: Any, extra: Any, private: Any) -> object:
        cls = self.resolve(name, Kind.MODEL)
        infos = cls.model_fields
        values = fields if fields.keys() == infos.keys() else self._filled(name, fields, infos)
        # What pickle does: validators ran when the value was made and must not run again.
        model = cls.__new__(cls)
        model.__setstate__(
            {
                "__dict__": values,
                "__pydantic_extra__": extra,
                "__pydantic_fields_set__": set(fields_set),
                "__pydantic_private__": private,
            }
        )
        return model

    @staticmethod
    def _filled(name: str, fields: Any, infos: Any) -> dict[str, Any]:
        """Return the fields of a model that has others than when it was recorded."""
        required = {key for key, info in infos.items() if info.is_required()}
        _check_fields(name, set(fields), set(infos), required)
        return {
            key: fields[key] if key in fields else info.get_default(call_default_factory=True)
            for key, info in infos.items()
        }

    def dataclass(self, name: str, fields: dict[str, Any]) -> object:
        cls = self.resolve(name, Kind.DATACLASS)
        # Without the constructor: it ran when the value was made, and `__post_init__` may do anything.
        instance = cls.__new__(cls)
        if fields.keys() == cls.__dataclass_fields__.keys():
            for key, value in fields.items():
                object.__setattr__(instance, key, value)
            return instance
        defaults = {field.name: _default(field) for field in dataclasses.fields(cls)}
        required = {key for key, default in defaults.items() if default is None}
        _check_fields(name, set(fields), set(defaults), required)
        for key, default in defaults.items():
            object.__setattr__(instance, key, fields[key] if default is None or key in fields else default())
        return instance

    def namedtuple(self, name: str, items: list[Any]) -> object:
        cls = self.resolve(name, Kind.NAMEDTUPLE)
        if len(items) != len(cls._fields):
            raise EncodingError(f"{name} was recorded with {len(items)} fields and has {len(cls._fields)} now")
        return tuple.__new__(cls, items)

    def enum(self, name: str, member: str | int) -> object:
        cls = self.resolve(name, Kind.ENUM)
        try:
            return cls[member] if isinstance(member, str) else cls(member)
        except (KeyError, ValueError) as error:
            raise EncodingError(f"{name} has no member {member!r} any more") from error

    def error(self, name: str, how: exceptions.How, args: list[Any], state: Any, message: str | None) -> object:
        """Return the exception, or its stand-in when its class is gone or has changed."""
        try:
            cls = self.resolve(name, Kind.EXCEPTION)
            return exceptions.rebuild(cls, how, tuple(args), state)
        except Exception:  # noqa: BLE001 - a changed constructor can fail in any way
            return DurableCallError(name.replace(":", "."), str(Exception(*args)) if message is None else message)


def _default(field: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    if field.default is not dataclasses.MISSING:
        return lambda: field.default
    return None


def _check_fields(name: str, recorded: set[str], known: set[str], required: set[str]) -> None:
    unknown, missing = sorted(recorded - known), sorted(required - recorded)
    if unknown:
        raise EncodingError(f"{name} was recorded with the fields {unknown}, which it does not have any more")
    if missing:
        raise EncodingError(f"{name} was recorded without the fields {missing}; give them defaults")


_Reader: TypeAlias = Callable[[TreeReader, Any], Any]

_READERS: dict[str, _Reader] = {
    "$int": lambda _, b: int(b, 16),
    "$float": lambda _, b: float(b),
    "$bytes": lambda r, b: r.frame(b),
    "$tuple": lambda _, b: tuple(b),
    "$dict": lambda _, b: {key: item for key, item in b},  # noqa: C416 - lists of two are no pairs to `dict` for mypy
    "$set": lambda _, b: set(b),
    "$frozenset": lambda _, b: frozenset(b),
    "$decimal": lambda _, b: Decimal(b),
    "$date": lambda _, b: dt.date.fromisoformat(b),
    "$time": lambda _, b: zones.rebuild_time(b),
    "$datetime": lambda _, b: zones.rebuild_datetime(b),
    "$timedelta": lambda _, b: dt.timedelta(*b),
    "$uuid": lambda _, b: uuid.UUID(b),
    "$record": lambda _, b: Record(None if b[0] is None else tuple(b[0]), tuple(b[1])),
    "$enum": lambda r, b: r.enum(*b),
    "$nt": lambda r, b: r.namedtuple(*b),
    "$dc": lambda r, b: r.dataclass(*b),
    "$model": lambda r, b: r.model(*b),
    "$error": lambda r, b: r.error(*b),
    "$lost": lambda _, b: DurableCallError(*b),
    "$ndarray": lambda r, b: arrays.rebuild(b[0], tuple(b[1]), r.frame(b[2])),
    "$objects": lambda _, b: arrays.rebuild_objects(tuple(b[0]), b[1]),
    "$np": lambda _, b: b[()],
    "$npstr": lambda _, b: arrays.text(b),
    "$npbytes": lambda r, b: arrays.octets(r.frame(b)),
    "$pickle": lambda r, b: r.pickled(b),
}
