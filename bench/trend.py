"""Whether a figure grows: what the readings of a process at different moments say. Standard library only."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

MIB = 2**20


def slope(moments: Sequence[float], values: Sequence[float]) -> float:
    """Return by how much the values grow from one unit of the moments to the next, by the line that fits best."""
    return statistics.linear_regression(moments, values).slope


def steady(readings: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    """Return the readings behind the first quarter, in which compilers, caches and pools fill."""
    return readings[len(readings) // 4 :]


def step(values: Sequence[float]) -> float:
    """Return by how much the median of the second half of the values lies above that of the first half."""
    half = len(values) // 2
    return statistics.median(values[half:]) - statistics.median(values[:half])
