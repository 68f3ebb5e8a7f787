"""An input on its way to its run. Data only."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HeldInput"]


class HeldInput(NamedTuple):
    """An input that waits for its run, or has one."""

    ticket: int
    raw: bytes
    timestamp: int | None
