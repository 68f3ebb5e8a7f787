"""Numpy arrays and scalars as plain parts. Imports numpy only when a value of it is there, or must be rebuilt."""

from __future__ import annotations

import importlib
import math
from typing import Any

__all__ = [
    "array_bytes",
    "as_array",
    "content",
    "descriptor",
    "elements",
    "has_padded_elements",
    "octets",
    "rebuild",
    "rebuild_objects",
    "text",
]


def _numpy() -> Any:
    return importlib.import_module("numpy")


def descriptor(dtype: Any) -> Any:
    """Return the data type as text, or as nested lists of tuples when it has fields; keeps the byte order."""
    return importlib.import_module("numpy.lib.format").dtype_to_descr(dtype)


def has_padded_elements(dtype: Any) -> bool:
    """Tell whether elements hold bytes without meaning: the long double of the platform."""
    return bool(dtype.kind in "fc" and dtype.itemsize // (2 if dtype.kind == "c" else 1) > 8)


def as_array(scalar: Any) -> Any:
    """Return the array without dimensions that holds a numpy scalar."""
    return _numpy().asarray(scalar)


def content(scalar: Any) -> Any:
    """Return the plain text or bytes of a numpy text or bytes scalar.

    Numpy's own conversions, and its arrays, lose the zeros at the end.
    """
    return str.__str__(scalar) if isinstance(scalar, str) else b"".join([scalar])


def elements(array: Any) -> list[Any]:
    """Return the elements in C order: Python objects as they are, numbers as text."""
    items: list[Any] = array.ravel().tolist()
    return items if array.dtype.hasobject else [str(item) for item in items]


def array_bytes(array: Any) -> bytes:
    """Return the elements in C order."""
    return bytes(array.tobytes())


def rebuild(data_type: Any, shape: tuple[int, ...], data: bytes) -> Any:
    """Return the array with these elements, writable and in C order."""
    numpy = _numpy()
    dtype = importlib.import_module("numpy.lib.format").descr_to_dtype(data_type)
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{len(data)} bytes do not fill an array of type {dtype} and shape {shape}")
    array = numpy.empty(shape, dtype)
    if data:
        array[...] = numpy.frombuffer(data, dtype).reshape(shape)
    return array


def rebuild_objects(shape: tuple[int, ...], items: list[Any]) -> Any:
    """Return the array of Python objects with these elements."""
    array = _numpy().empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array.reshape(shape)


def text(value: str) -> Any:
    """Return the numpy text scalar."""
    return _numpy().str_(value)


def octets(value: bytes) -> Any:
    """Return the numpy bytes scalar."""
    return _numpy().bytes_(value)
