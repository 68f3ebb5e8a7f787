"""One run of the demo on files. Owns where they lie and what they hold; the course of a run is that of `killed_run`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from e2e.harness.journal import read_journal
from e2e.harness.sinks import committed_lines
from examples.killed_run import KilledRun, Plan

__all__ = ["FLIGHTS", "DemoRun", "Plan"]

_FOLDER = Path(__file__).parent
FLIGHTS = _FOLDER / "data" / "flights.csv"
_JOB = _FOLDER / "job.py"


class DemoRun(KilledRun):
    """The job with files for its store and its outputs."""

    def __init__(self, folder: Path, plan: Plan, say: Callable[[str], None]) -> None:
        """Prepare a run below `folder`, which is empty; `say` is told what happens."""
        super().__init__(folder, plan, say)
        self._output = folder / "output"
        self._store = folder / "store"

    def submit(self) -> str:
        """Submit the job and return its id."""
        arguments = {
            "--flights": FLIGHTS,
            "--per-second": self.plan.per_second,
            "--checkpoint-ms": self.plan.checkpoint_ms,
            "--desks": self.desks.url,
            "--output": self._output,
            "--store": self._store,
        }
        return self.cluster.submit(_JOB, *(str(part) for pair in arguments.items() for part in pair))

    def recorded(self) -> frozenset[str]:
        """Return the ids of the calls whose outcome is in the store's files."""
        return frozenset(record.function_id for record in read_journal(self._store) if record.kind == "o")

    def outputs(self) -> list[str]:
        """Return the lines that the file sink has committed."""
        return committed_lines(self._output)

    def committed_flights(self) -> frozenset[str]:
        """Return the flights of these lines."""
        return frozenset(json.loads(line)["flight"] for line in self.outputs())

    def progress(self, job: str) -> str:
        """Return how far the job is, in a line."""
        return f"{len(self.outputs()):5} outputs, {super().progress(job)}"
