"""What goes into an operator and what comes out."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Output", "SourceInput"]


class SourceInput(NamedTuple):
    """One element of the source."""

    number: int
    """Its place in the source, from 0."""
    key: bytes
    raw: bytes
    timestamp: int | None


class Output(NamedTuple):
    """One element that left the operator."""

    key: bytes
    value: Any
    timestamp: int | None
    is_dead_letter: bool
