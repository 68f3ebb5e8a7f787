"""A run of a job whose TaskManager is killed in the middle. Owns the course of events; judges nothing."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.effects import EffectServer
from e2e.harness.processes import HarnessError, wait_until
from examples.demo.checker import Kill

__all__ = ["KilledRun", "Plan"]

_ROOT = Path(__file__).resolve().parents[1]
"""From where jobs import what the examples share."""
_LATENCY_MS = (40, 160)
_JOB_S = 240.0
_SHOW_EVERY_S = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does."""

    calls: int
    """Calls that a run without repeats makes; shares of it tell the time."""
    kill_at: tuple[float, ...]
    """Shares of the calls at which the TaskManager dies, rising; not before the first checkpoint is complete."""
    per_second: float = 0
    """Flights a second; 0: all at once."""
    checkpoint_ms: int = 1000
    """Time between checkpoints; 0: there are none."""


class KilledRun(ABC):
    """A job on a cluster of its own, with the desks beside it, all below one folder."""

    def __init__(self, folder: Path, plan: Plan, say: Callable[[str], None]) -> None:
        """Prepare a run below `folder`, which is empty; `say` is told what happens."""
        self.folder = folder
        self.plan = plan
        self.say = say
        cluster_folder = folder / "cluster"
        cluster_folder.mkdir()
        # The agent has two subtasks, each with its share of the destinations.
        settings = ClusterSettings(slots=2, options={"parallelism.default": "2"}, python_path=[_ROOT])
        self.cluster = FlinkCluster(cluster_folder, settings)
        self.desks = EffectServer(folder, _LATENCY_MS)
        self.kills: list[Kill] = []
        self.lost_s: list[float] = []
        self.failures: list[str] = []

    @abstractmethod
    def submit(self) -> str:
        """Submit the job and return its id."""

    @abstractmethod
    def recorded(self) -> frozenset[str]:
        """Return the ids of the calls whose outcome the action-state store holds; nobody writes meanwhile."""

    @abstractmethod
    def outputs(self) -> list[str]:
        """Return what the sink has committed."""

    @abstractmethod
    def committed_flights(self) -> frozenset[str]:
        """Return the flights whose output the sink has committed."""

    def perform(self) -> None:
        """Run the job to its end; the cluster and the desks are up only meanwhile."""
        self.say("Starting the desks and a Flink cluster")
        with self.desks, self.cluster:
            self.say("Submitting the job")
            job = self.submit()
            for share in self.plan.kill_at:
                self._watch(job, until_calls=round(share * self.plan.calls))
                self._kill_and_recover(job)
            self._watch(job)
            self.finish(job)
            self.failures = [failure.splitlines()[0] for failure in self.cluster.rest.failures(job)]

    def is_done(self, job: str) -> bool:
        """Tell whether nothing is left to do for the job; raises `HarnessError` when it failed."""
        return self.cluster.has_finished(job)

    def finish(self, job: str) -> None:  # noqa: B027 - a job that ends by itself is over by now
        """End a job that is done."""

    def progress(self, job: str) -> str:
        """Return how far the job is, in a line."""
        checkpoints = self.cluster.rest.checkpoints(job).completed
        return f"{self.desks.request_count():5} requests, {checkpoints:3} checkpoints"

    def _watch(self, job: str, until_calls: int | None = None) -> None:
        """Show the progress until so many calls were made, or the job is done."""
        shown_s = time.monotonic()

        def reached() -> bool:
            nonlocal shown_s
            if time.monotonic() - shown_s >= _SHOW_EVERY_S:
                shown_s = time.monotonic()
                self.say(self.progress(job))
            if until_calls is not None and self.desks.request_count() >= until_calls and self._has_checkpoint(job):
                return True
            return self.is_done(job)

        wait_until(reached, f"{until_calls or 'all'} calls are made", _JOB_S, poll_s=0.2)
        if until_calls is not None and self.desks.request_count() < until_calls:
            raise HarnessError(f"the job finished with fewer calls than the {until_calls} at which to kill it")

    def _has_checkpoint(self, job: str) -> bool:
        """Tell whether there is a checkpoint to come back to, or none will ever be."""
        return not self.plan.checkpoint_ms or self.cluster.rest.checkpoints(job).completed > 0

    def _kill_and_recover(self, job: str) -> None:
        (name,) = self.cluster.taskmanagers
        killed_ns = self.cluster.kill_taskmanager(name)
        # Nobody writes now: what is read here is what the next TaskManager will find.
        recorded, committed = self.recorded(), self.committed_flights()
        self.kills.append(Kill(killed_ns, time.monotonic_ns(), recorded, committed))
        self.say(
            f"Killed the TaskManager with -9: {self.desks.request_count()} requests were sent, {len(recorded)} outcomes are recorded, "
            f"{len(committed)} outputs are committed"
        )
        self.cluster.start_taskmanager()
        self.cluster.wait_until_running(job, within_s=90)
        self.lost_s.append((time.monotonic_ns() - killed_ns) / 1e9)
        restored = self.cluster.rest.checkpoints(job).restored
        self.say(f"A new TaskManager runs the job, {self.lost_s[-1]:.1f} s later; checkpoints restored: {restored}")
