"""Whether two values are the same in value and type, part by part; independent of the encodings under test."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

from pydantic import BaseModel


def same(left: Any, right: Any) -> bool:
    """Tell whether value and type are the same; NaN is itself, `0.0` is not `-0.0`, a dict has an order."""
    if type(left) is not type(right):
        return False
    parts = _parts(left)
    if parts is not None:
        others = _parts(right)
        return others is not None and len(parts) == len(others) and all(map(same, parts, others))
    if isinstance(left, set | frozenset):
        return len(left) == len(right) and all(any(same(item, other) for other in right) for item in left)
    if isinstance(left, dt.datetime | dt.time):
        return repr(left) == repr(right) and left.fold == right.fold and type(left.tzinfo) is type(right.tzinfo)
    return repr(left) == repr(right)


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
