"""What a simulation reports. Owns plain data."""

from __future__ import annotations

from dataclasses import dataclass

from flink_agents_subagent.testing.result import LocalResult

__all__ = ["SimulationReport"]


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """How an agent was tried, and what it does without crashes."""

    points: int
    """Points at which a process could die in the run without crashes."""
    simulations: int
    """Runs of the whole input with at least one crash."""
    crashes: int
    repeated_calls: int
    """Calls that were in flight and unrecorded when a process died, and were therefore made again (E3.6)."""
    differences: list[str]
    """Runs whose outputs or memory are not those of the run without crashes, each with the first difference.

    None for an agent that depends neither on which of two calls ends first, nor on the time of day, nor on functions that answer
    differently when they are called again; for others a difference is no fault.
    """
    result: LocalResult
    """Outputs, memory and calls of the run without crashes."""
