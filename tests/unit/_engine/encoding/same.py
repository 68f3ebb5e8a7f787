"""Whether two values are the same, part by part; independent of the encodings under test."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

Comparison = Callable[[Any, Any], bool]


def same(left: Any, right: Any) -> bool:
    """Tell whether value and type are the same; NaN is itself, `0.0` is not `-0.0`, a dict has an order."""
    if type(left) is not type(right):
        return False
    parts, others = _parts(left), _parts(right)
    if parts is not None and others is not None:
        return len(parts) == len(others) and all(map(same, parts, others))
    if isinstance(left, set | frozenset):
        return _same_members(left, right, same)
    if isinstance(left, dt.datetime | dt.time):
        return repr(left) == repr(right) and left.fold == right.fold and type(left.tzinfo) is type(right.tzinfo)
    return repr(left) == repr(right)


def alike(left: Any, right: Any) -> bool:
    """Tell the same of what counts for a fingerprint: neither order nor a zone's name, nor fields that do not compare."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dt.datetime | dt.time):
        return left.isoformat() == right.isoformat()
    if isinstance(left, dict):
        return _same_members(list(left.items()), list(right.items()), alike)
    if isinstance(left, set | frozenset):
        return _same_members(left, right, alike)
    parts, others = _counting_parts(left), _counting_parts(right)
    if parts is not None and others is not None:
        return len(parts) == len(others) and all(map(alike, parts, others))
    return repr(left) == repr(right)


def _same_members(left: Any, right: Any, is_same: Comparison) -> bool:
    return len(left) == len(right) and all(any(is_same(item, other) for other in right) for item in left)


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, BaseModel):
        return [dict(value), value.model_fields_set, value.__pydantic_private__]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, BaseException):
        return [value.args, vars(value)]
    return None


def _counting_parts(value: Any) -> list[Any] | None:
    if isinstance(value, BaseModel):
        return [dict(value)]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value) if field.compare]
    return _parts(value)
