"""One run of the job with the TaskManager killed in the middle. Owns the course of events; judges nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.effects import EffectServer
from e2e.harness.journal import read_journal
from e2e.harness.processes import HarnessError, wait_until
from e2e.harness.sinks import committed_lines
from examples.demo.checker import Kill

__all__ = ["FLIGHTS", "DemoRun", "Plan"]

_FOLDER = Path(__file__).parent
FLIGHTS = _FOLDER / "data" / "flights.csv"
_JOB = _FOLDER / "job.py"
_LATENCY_MS = (40, 160)
_JOB_S = 240.0
_SHOW_EVERY_S = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does."""

    calls: int
    """Calls that a run without repeats makes; shares of it tell the time."""
    kill_at: tuple[float, ...]
    """Shares of the calls at which the TaskManager dies, rising."""
    per_second: float
    """Flights a second."""
    checkpoint_ms: int = 1000
    """Time between checkpoints; 0: there are none."""


class DemoRun:
    """The job on a cluster of its own, with the desks beside it, all below one folder."""

    def __init__(self, folder: Path, plan: Plan, say: Callable[[str], None]) -> None:
        """Prepare a run below `folder`, which is empty; `say` is told what happens."""
        self._plan = plan
        self._say = say
        self._output = folder / "output"
        self._store = folder / "store"
        self._cluster_folder = folder / "cluster"
        self._cluster_folder.mkdir()
        # The agent has two subtasks, each with its share of the destinations.
        settings = ClusterSettings(slots=2, options={"parallelism.default": "2"})
        self.cluster = FlinkCluster(self._cluster_folder, settings)
        self.desks = EffectServer(folder, _LATENCY_MS)
        self.kills: list[Kill] = []
        self.lost_s: list[float] = []
        self.failures: list[str] = []

    def perform(self) -> None:
        """Run the job to its end; the cluster and the desks are up only meanwhile."""
        self._say("Starting the desks and a Flink cluster")
        with self.desks, self.cluster:
            self._say("Submitting the job")
            arguments = {
                "--flights": FLIGHTS,
                "--per-second": self._plan.per_second,
                "--checkpoint-ms": self._plan.checkpoint_ms,
                "--desks": self.desks.url,
                "--output": self._output,
                "--store": self._store,
            }
            job = self.cluster.submit(_JOB, *(str(part) for pair in arguments.items() for part in pair))
            for share in self._plan.kill_at:
                self._watch(job, until_calls=round(share * self._plan.calls))
                self._kill_and_recover(job)
            self._watch(job)
            self.failures = [failure.splitlines()[0] for failure in self.cluster.rest.failures(job)]

    def outputs(self) -> list[str]:
        """Return the lines that the file sink has committed."""
        return committed_lines(self._output)

    def _watch(self, job: str, until_calls: int | None = None) -> None:
        """Show the progress until so many calls were made, or to the end of the job."""
        shown_s = time.monotonic()

        def reached() -> bool:
            nonlocal shown_s
            if time.monotonic() - shown_s >= _SHOW_EVERY_S:
                shown_s = time.monotonic()
                self._show(job)
            if until_calls is not None and self.desks.request_count() >= until_calls:
                return True
            return self.cluster.has_finished(job)

        wait_until(reached, f"{until_calls or 'all'} calls are made", _JOB_S, poll_s=0.2)
        if until_calls is not None and self.desks.request_count() < until_calls:
            raise HarnessError(f"the job finished with fewer calls than the {until_calls} at which to kill it")

    def _kill_and_recover(self, job: str) -> None:
        (name,) = self.cluster.taskmanagers
        killed_ns = self.cluster.kill_taskmanager(name)
        # Nobody writes now: what is read here is what the next TaskManager will find.
        recorded = frozenset(record.function_id for record in read_journal(self._store) if record.kind == "o")
        committed = frozenset(json.loads(line)["flight"] for line in self.outputs())
        self.kills.append(Kill(killed_ns, time.monotonic_ns(), recorded, committed))
        self._say(
            f"Killed the TaskManager with -9: {self.desks.request_count()} requests were sent, {len(recorded)} outcomes are recorded, "
            f"{len(committed)} outputs are committed"
        )
        self.cluster.start_taskmanager()
        self.cluster.wait_until_running(job, within_s=90)
        self.lost_s.append((time.monotonic_ns() - killed_ns) / 1e9)
        restored = self.cluster.rest.checkpoints(job).restored
        self._say(f"A new TaskManager runs the job, {self.lost_s[-1]:.1f} s later; checkpoints restored: {restored}")

    def _show(self, job: str) -> None:
        checkpoints = self.cluster.rest.checkpoints(job).completed
        self._say(
            f"{len(self.outputs()):5} outputs, {self.desks.request_count():5} requests, {checkpoints:3} checkpoints"
        )
