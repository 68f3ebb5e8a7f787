"""What the engine has counted and observed since the host asked last (E7.1). Must not know what the figures are about."""

from __future__ import annotations

from collections import defaultdict

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.effects import Count, Metric, Observe

__all__ = ["CallFigures", "Meter"]


class CallFigures:
    """What every call of one label changes."""

    __slots__ = ("in_flight", "latency_ms", "started")

    def __init__(self) -> None:
        self.started = 0
        self.in_flight = 0
        self.latency_ms: list[int] = []


class Meter:
    """Sums of counters, values of histograms.

    What every input and every call changes is an attribute, because that costs a third of a look-up by name and label.
    Thread: task thread.
    """

    __slots__ = (
        "_counts",
        "_values",
        "acknowledge_latency_ms",
        "active_runs",
        "calls",
        "journal_bytes",
        "journal_records",
        "parked_executions",
    )

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.active_runs = 0
        self.parked_executions = 0
        self.journal_records = 0
        self.journal_bytes = 0
        self.acknowledge_latency_ms: list[int] = []
        self.calls: defaultdict[str, CallFigures] = defaultdict(CallFigures)
        """By label."""
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._values: defaultdict[tuple[str, str], list[int]] = defaultdict(list)

    def count(self, name: str, label: str = "", amount: int = 1) -> None:
        """Add to a counter."""
        self._counts[name, label] += amount

    def observe(self, name: str, label: str, value_ms: int) -> None:
        """Add to a histogram."""
        self._values[name, label].append(value_ms)

    def take(self) -> list[Metric]:
        """Hand over everything and begin anew; a counter that did not change in sum is left out."""
        self._counts[metric.ACTIVE_RUNS, ""] += self.active_runs
        self._counts[metric.PARKED_EXECUTIONS, ""] += self.parked_executions
        self._counts[metric.JOURNAL_RECORDS, ""] += self.journal_records
        self._counts[metric.JOURNAL_BYTES, ""] += self.journal_bytes
        if self.acknowledge_latency_ms:
            self._values[metric.ACKNOWLEDGE_LATENCY, ""] += self.acknowledge_latency_ms
        for label, figures in self.calls.items():
            self._counts[metric.CALLS_STARTED, label] += figures.started
            self._counts[metric.CALLS_IN_FLIGHT, label] += figures.in_flight
            if figures.latency_ms:
                self._values[metric.CALL_LATENCY, label] += figures.latency_ms
        counts, values = self._counts, self._values
        self._begin()
        return [
            *(Count(name, label, amount) for (name, label), amount in counts.items() if amount),
            *(Observe(name, label, observed) for (name, label), observed in values.items()),
        ]
