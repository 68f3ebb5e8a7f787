"""How values cross between streams and agents (decision 0005). Owns the formats; must not import pyflink, which a TaskManager need not load."""

from __future__ import annotations

import functools
import io
import json
import pickle
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal, TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from flink_agents_subagent._engine.encoding import Record
from flink_agents_subagent._plan.by_value import ByValuePickler
from flink_agents_subagent._plan.reference import type_name
from flink_agents_subagent.errors import DefinitionError, NotExpressibleError

__all__ = ["INPUT_FORMATS", "OUTPUT_FORMATS", "InputFormat", "OutputFormat", "decoder", "encoder"]

InputFormat: TypeAlias = Literal["pickle", "string", "bytes", "java"]
OutputFormat: TypeAlias = Literal["pickle", "string", "json", "bytes"]
INPUT_FORMATS: tuple[InputFormat, ...] = ("pickle", "string", "bytes", "java")
OUTPUT_FORMATS: tuple[OutputFormat, ...] = ("pickle", "string", "json", "bytes")

Types: TypeAlias = Mapping[str, type[Any]]
"""Classes that came by value, by `module:qualified name`."""

_PROTOCOL = 5
# A pickle that names a class has one of them: behind each name, or as the operation that takes the names from the stack.
_LINE_END, _STACK_GLOBAL = 0x0A, pickle.STACK_GLOBAL[0]
_ROW_MODULE = "pyflink.common.types"


def decoder(input_format: str, types: Types) -> Callable[[bytes], Any]:
    """Return the function that makes an input of its bytes.

    Guarantee: a value of a class that the job script defines has the class that the agent uses (P9). A PyFlink `Row` becomes
        a `Record` with its names and values.
    Thread: any.

    Raises:
        DefinitionError: There is no such format. The returned function raises it for a class that is missing here.
    """
    if input_format in ("pickle", "java"):
        return _unpickler(types)
    if input_format == "string":
        return _decode_string
    if input_format == "bytes":
        return bytes
    raise DefinitionError(f"there is no input format {input_format!r}; there are {', '.join(INPUT_FORMATS)}")


def encoder(output_format: str, types: Types) -> Callable[[Any], bytes]:
    """Return the function that makes bytes of an output.

    Thread: any.

    Raises:
        DefinitionError: There is no such format. The returned function raises `NotExpressibleError` for a value that the
            format cannot hold.
    """
    if output_format == "pickle":
        return _pickler(types)
    plain: dict[str, Callable[[Any], bytes]] = {"string": _encode_string, "json": _encode_json, "bytes": _encode_bytes}
    if output_format not in plain:
        raise DefinitionError(f"there is no output format {output_format!r}; there are {', '.join(OUTPUT_FORMATS)}")
    return plain[output_format]


def _decode_string(data: bytes) -> str:
    return data.decode("utf-8")


class _Unpickler(pickle.Unpickler):
    """Finds the job script's classes among those that came by value, and takes rows apart without PyFlink."""

    def __init__(self, data: bytes, types: Types) -> None:
        super().__init__(io.BytesIO(data))
        self._types = types

    def find_class(self, module: str, name: str) -> Any:
        found: Any = self._types.get(f"{module}:{name}")
        if found is None and module == _ROW_MODULE:
            # A row's constructor takes names, values and kind.
            found = {"_create_row": _row, "RowKind": _RowKind}.get(name)
        if found is not None:
            return found
        try:
            return super().find_class(module, name)
        except (ImportError, AttributeError) as error:
            raise DefinitionError(_missing(module, name, error)) from error


def _missing(module: str, name: str, error: Exception) -> str:
    remedy = (
        "define it at the top level of the job script, where it is found when the job is submitted"
        if module == "__main__"
        else "install its module where the job runs, or ship it with python.files"
    )
    return f"an input holds a {module}.{name}, which is not known here ({error}); {remedy}"


class _RowKind(Enum):
    """PyFlink's, which some releases of Python pickle by value and others, as 3.11.2, by name."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3


def _row(names: Any, values: Any, _kind: Any = None) -> Record:
    """Make a record of a row; its kind (insert, update, delete) is not kept."""
    return Record(None if names is None else tuple(names), tuple(values))


def _unpickler(types: Types) -> Callable[[bytes], Any]:
    # The C unpickler without a Python hook is several times faster, so that the hook is used only for bytes that may need it.
    modules = {name.partition(":")[0] for name in types} | {"__main__", _ROW_MODULE}
    needles = [module.encode("utf-8", "surrogatepass") for module in sorted(modules)]

    def decode(data: bytes) -> Any:
        # Most inputs are plain data and have neither. A byte is a number here, because that is sought in a third of the time.
        if _LINE_END in data or _STACK_GLOBAL in data:
            for needle in needles:
                # A loop: a generator takes longer than the searches.
                if needle in data:
                    return _Unpickler(data, types).load()
        try:
            return pickle.loads(data)  # noqa: S301 -- the stream is the job's own
        except (ImportError, AttributeError):
            # Again, for the message that says what to do.
            return _Unpickler(data, types).load()

    return decode


class _Pickler(ByValuePickler):
    """Names classes that came by value, and adds their code for a reader that does not know the name."""

    def __init__(self, file: io.BytesIO, codes: Callable[[type[Any]], bytes], types: Types) -> None:
        super().__init__(file)
        self._codes = codes
        self._types = types

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type):
            name = type_name(thing)
            known = self._types.get(name)
            if known is not None and known is thing:
                return _class_by_name, (name, self._codes(known))
        return super().reducer_override(thing)


def _pickler(types: Types) -> Callable[[Any], bytes]:
    own = frozenset(types.values())

    codes: dict[type[Any], bytes] = {}

    def code_of(cls: type[Any]) -> bytes:
        if cls not in codes:
            file = io.BytesIO()
            ByValuePickler(file).dump(cls)
            codes[cls] = file.getvalue()
        return codes[cls]

    def by_value(value: Any) -> bytes:
        file = io.BytesIO()
        try:
            _Pickler(file, code_of, types).dump(value)
        except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
            raise NotExpressibleError(
                f"an output of type {type(value).__qualname__} cannot be pickled: {error}; emit data, not live objects"
            ) from error
        return file.getvalue()

    def encode(value: Any) -> bytes:
        if type(value) in own:
            return by_value(value)
        try:
            return pickle.dumps(value, _PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError):
            return by_value(value)

    return encode


@functools.lru_cache(maxsize=1024)
def _class_by_name(name: str, code: bytes) -> type[Any]:
    """Return the reader's own class of this name if it has one, as the submitting process does; else the one that came along."""
    module, _, qualified = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type):
        return found
    made: type[Any] = pickle.loads(code)  # noqa: S301 -- beside the value that needs it
    return made


def _encode_string(value: Any) -> bytes:
    if not isinstance(value, str):
        raise _wrong(value, "a stream of strings takes str")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotExpressibleError(f"an output text has no UTF-8 form: {error}") from error


def _encode_bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _wrong(value, "a stream of bytes takes bytes")
    return bytes(value)


def _encode_json(value: Any) -> bytes:
    if isinstance(value, Record) and value.names is not None:
        value = dict(zip(value.names, value.values, strict=True))
    try:
        text = to_json(value, inf_nan_mode="constants", bytes_mode="base64")
        if b"NaN" in text or b"Infinity" in text:
            # Not JSON, though the writer lets them pass; inside a text they are fine.
            json.loads(text, parse_constant=_refuse_constant)
    except (PydanticSerializationError, ValueError) as error:
        raise NotExpressibleError(
            f"an output of type {type(value).__qualname__} cannot be written as JSON: {error}; "
            "emit JSON values, pydantic models or dataclasses"
        ) from error
    return text


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


def _wrong(value: Any, wanted: str) -> NotExpressibleError:
    return NotExpressibleError(
        f"an output is a {type(value).__qualname__}, but {wanted}; "
        "emit that, or choose another output_type in to_datastream()"
    )
