"""The value codec: values and exceptions to bytes and back as the same types (E3.5). Owns the format of decision 0002."""

from __future__ import annotations

import importlib
import struct
from typing import Any

from flink_agents_subagent._engine.encoding.exceptions import plan_of, text_of
from flink_agents_subagent._engine.encoding.framing import dump_json, load_json, pack_frames, unpack_frames
from flink_agents_subagent._engine.encoding.kinds import Refused
from flink_agents_subagent._engine.encoding.registry import TypeRegistry
from flink_agents_subagent._engine.encoding.tree import TreeWriter, is_plain
from flink_agents_subagent._engine.encoding.untree import TreeReader
from flink_agents_subagent.errors import DurableCallError, EncodingError, NotExpressibleError

__all__ = ["ValueCodec"]

_HEADER = struct.Struct(">I")
_DAMAGE = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, ImportError, RecursionError, struct.error,
)  # fmt: skip
"""What the constructors of the known types raise when they are given something else."""


class ValueCodec:
    """Encodes what a job records: call results, memory, events.

    Guarantee: what `encode` accepts, `decode` returns with the same value and types, in this and in any later process that
    has the same code; anything else is refused before it is recorded (E3.5).
    Thread: one thread.
    """

    __slots__ = ("_allow_pickle", "_reader", "_registry")

    def __init__(self, registry: TypeRegistry, *, allow_pickle: bool) -> None:
        """Encode with these names; `allow_pickle` is the option `journal.pickle: allow`."""
        self._registry = registry
        self._allow_pickle = allow_pickle
        self._reader: TreeReader | None = None

    def encode(self, value: object) -> bytes:
        """Return the bytes of a value.

        Raises:
            EncodingError: A part has a type that cannot be rebuilt; names the type, the path and the option.
        """
        try:
            return self._encode(value)
        except Refused as refused:
            raise EncodingError(f"cannot record the value: {self._remedy(refused)}") from None

    def express(self, value: object) -> bytes:
        """Return the bytes of a value that an author hands in, such as a memory write.

        Raises:
            NotExpressibleError: A part has a type that cannot be rebuilt; carries the path.
        """
        try:
            return self._encode(value)
        except Refused as refused:
            raise NotExpressibleError(f"cannot keep the value: {self._remedy(refused)}", refused.path) from None

    def decode(self, data: bytes) -> Any:
        """Return the value with these bytes.

        Raises:
            EncodingError: The bytes are damaged, or name a type that is gone or has changed.
        """
        try:
            (length,) = _HEADER.unpack_from(data)
            # A tag needs `"$`, which is never escaped: without it the JSON is the value.
            if length + 4 == len(data) and b'"$' not in data:
                return load_json(data[4:])
            text, frames = unpack_frames(data)
            # Kept, because making one takes as long as reading a small value; taken, because code of a value's class may decode as well.
            reader, self._reader = self._reader or self._new_reader(), None
            try:
                return reader.value(text, frames)
            finally:
                self._reader = reader
        except _DAMAGE as error:
            raise EncodingError(f"a recorded value cannot be read: {error} (it starts with {data[:80]!r})") from error

    def encode_error(self, error: BaseException) -> bytes:
        """Return the bytes of an exception; one that cannot be rebuilt is recorded by type name and message, never refused."""
        if plan_of(error) is not None or self._allow_pickle:
            try:
                return self._encode(error)
            except Refused:
                # An argument or attribute has no encoding: the caller gets the stand-in, as on every replay.
                pass
        return pack_frames(dump_json({"$lost": _lost(error)}), ())

    def decode_error(self, data: bytes) -> BaseException:
        """Return the exception with these bytes: same class, arguments and message, or a `DurableCallError`.

        Replay: a caller must meet what this returns in the first run as well, so that live and replay take the same branches.
        """
        error = self.decode(data)
        if not isinstance(error, BaseException):
            raise EncodingError(f"an exception was expected in a record, not a value of type {type(error).__name__}")
        return error

    def _encode(self, value: object) -> bytes:
        if is_plain(value):
            return pack_frames(dump_json(value), ())
        writer = TreeWriter(self._registry, _pickle if self._allow_pickle else None)
        tree = writer.tree(value)
        return pack_frames(dump_json(tree), writer.frames)

    def _new_reader(self) -> TreeReader:
        return TreeReader(self._registry, self._unpickle if self._allow_pickle else None)

    def _remedy(self, refused: Refused) -> str:
        text = refused.describe()
        if self._allow_pickle or refused.is_cycle:
            return text
        return (
            f"{text} cannot be rebuilt; use plain values, dataclasses, pydantic models, named tuples or enums, "
            "or set `journal.pickle: allow`"
        )

    @staticmethod
    def _unpickle(data: bytes) -> object:
        try:
            return importlib.import_module("cloudpickle").loads(data)
        except Exception as error:
            raise EncodingError(f"a pickled value cannot be read: {type(error).__name__}: {error}") from error


def _pickle(value: object) -> bytes:
    try:
        return bytes(importlib.import_module("cloudpickle").dumps(value))
    except Exception as error:
        raise Refused(f"a value that cannot be pickled ({type(error).__name__}: {error})") from error


def _lost(error: BaseException) -> list[str]:
    if isinstance(error, DurableCallError):
        return [error.type_name, error.message]
    cls = type(error)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    try:
        return [name, text_of(error)]
    except Exception as broken:  # noqa: BLE001 - an author's `__str__` can fail in any way
        return [name, f"(no text: {type(broken).__name__})"]
