"""Types that the vectors name; they are shipped by value as `samples:<name>`."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict


class Colour(enum.Enum):
    """A plain enum."""

    RED = "r"
    BLUE = "b"


class Right(enum.Flag):
    """A flag."""

    READ = 1
    WRITE = 2


class Point(NamedTuple):
    """A named tuple."""

    x: int
    y: int


@dataclass(frozen=True)
class Order:
    """A dataclass with a field that does not count for equality, and one with a default."""

    number: int
    note: str = field(default="", compare=False)
    lines: tuple[Any, ...] = ()


class Quote(BaseModel):
    """A pydantic model."""

    model_config = ConfigDict(extra="allow")

    price: float
    tags: list[str] = []


class PaymentError(Exception):
    """An exception whose constructor computes its message."""

    def __init__(self, code: int) -> None:
        super().__init__(f"refused with code {code}")
        self.code = code


TYPES: dict[str, type[Any]] = {
    f"samples:{cls.__name__}": cls for cls in (Colour, Right, Point, Order, Quote, PaymentError)
}
for _cls in TYPES.values():
    _cls.__module__ = "samples"
