"""The key selector on its way to the key operator, and its use there. Must not import pyflink."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

from flink_agents_subagent._engine.encoding import key_bytes
from flink_agents_subagent._flink.blobs import pack_blobs, unpack_blobs
from flink_agents_subagent._flink.formats import InputFormat, decoder
from flink_agents_subagent._flink.port import SLICE_SECONDS
from flink_agents_subagent._plan.by_value import pack, unpack
from flink_agents_subagent._plan.wire import check_versions, python_version
from flink_agents_subagent.errors import DefinitionError

__all__ = ["KEY_TYPES", "dump_selector", "load_selector", "select_keys"]

KEY_TYPES: dict[str, type[Any]] = {"str": str, "int": int, "bytes": bytes, "bool": bool, "tuple": tuple}

_VERSION = 1
_NAME = "the key selector"


def dump_selector(selector: Callable[[Any], Any], key_type: type[Any] | None, input_format: InputFormat) -> bytes:
    """Return a key selector as bytes, with the types of the job script.

    Args:
        selector: Input → key; None stands for the input itself.
        key_type: One of `KEY_TYPES`, or None to take any of them.
        input_format: What the key operator will hand over.

    Raises:
        DefinitionError: The selector cannot be pickled; names what it uses that cannot.
    """
    tree = {
        "version": _VERSION,
        "python": python_version(),
        "format": input_format,
        "key_type": None if key_type is None else key_type.__name__,
        "blob": base64.b64encode(pack({_NAME: selector})).decode("ascii"),
    }
    return json.dumps(tree).encode("utf-8")


def load_selector(data: bytes) -> Callable[[bytes], bytes]:
    """Return the function from an input's bytes to its canonical key bytes.

    Raises:
        UnknownVersionError: A newer release wrote it.
        DefinitionError: Another Python wrote it, or it needs what is missing here. The returned function raises it when
            the selector raises, and when a key has another type than the declared one.
    """
    tree = json.loads(data)
    check_versions("key selector", tree, _VERSION)
    objects, types = unpack(base64.b64decode(tree["blob"]))
    select, decode = objects[_NAME], decoder(tree["format"], types)
    key_type = KEY_TYPES.get(tree["key_type"])

    def key_of(value: bytes) -> bytes:
        decoded = decode(value)
        try:
            key = select(decoded)
        except Exception as error:
            raise DefinitionError(
                f"the key selector failed on an input of type {type(decoded).__qualname__}: {type(error).__name__}: {error}"
            ) from error
        if key_type is not None and type(key) is not key_type:
            raise DefinitionError(
                f"the key selector returned a {type(key).__qualname__} where key_type is {key_type.__name__}; "
                "return that type, or declare the other one"
            )
        return key_bytes(key)

    return key_of


def select_keys(key_of: Callable[[bytes], bytes], values: bytes) -> bytes:
    """Return the keys of packed values, packed: of all, or of as many as a time slice is enough for.

    Thread: task thread of a key operator.
    """
    keys: list[bytes] = []
    clock = time.perf_counter
    end = clock() + SLICE_SECONDS
    for value in unpack_blobs(values):
        keys.append(key_of(value))
        if clock() >= end:
            break
    return pack_blobs(keys)
