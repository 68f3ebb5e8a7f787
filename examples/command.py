"""What the commands of the examples share: progress, the working folder, the summary. Owns the exit status of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.processes import HarnessError, temporary_folder
from e2e.harness.signals import stop_on_signals
from examples.demo.checker import Report, check
from examples.demo.expected import Expectation
from examples.killed_run import KilledRun

__all__ = ["Example", "run_example"]


@dataclass(frozen=True, slots=True)
class Example:
    """What is said of an example."""

    name: str
    introduction: str
    sink: str
    """What has committed the outputs."""
    store: str
    """Where the recorded outcomes were read."""


def run_example(
    example: Example,
    expectation: Expectation,
    make_run: Callable[[Path, Callable[[str], None]], KilledRun],
    kept: Path | None,
) -> int:
    """Make a run in a folder, temporary unless `kept` names one, and print its summary.

    Returns:
        0 when every figure holds, 1 when one does not, 2 when the run could not be made, 130 when it was interrupted.
    """
    start_s = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - start_s:5.1f} s] {text}", flush=True)

    print(example.introduction, flush=True)
    say(f"{len(expectation.outputs)} flights, for which {len(expectation.calls)} calls have to be made")
    try:
        with stop_on_signals(), _working_folder(example.name, kept) as folder:
            run = make_run(folder, say)
            run.perform()
            report = check(expectation, run.outputs(), run.desks.requests(), run.kills)
    except HarnessError as error:
        print(f"The run could not be made: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted; everything that was started is gone.", file=sys.stderr)
        return 130
    _print_summary(example, report, run, time.monotonic() - start_s)
    return 1 if report.problems else 0


def _working_folder(name: str, kept: Path | None) -> AbstractContextManager[Path]:
    if kept is None:
        return temporary_folder(f"{name}-")
    kept.mkdir(parents=True)
    return nullcontext(kept.resolve())


def _print_summary(example: Example, report: Report, run: KilledRun, seconds: float) -> None:
    figures: Mapping[str, tuple[object, str]] = {
        "inputs": (report.inputs, "flights"),
        "outputs": (report.outputs, f"committed by the {example.sink}"),
        "distinct outputs": (report.distinct_outputs, "compared with a plain loop over the data"),
        "calls made": (report.calls, "different idempotency keys at the desks"),
        "calls recorded at the kill": (report.recorded_at_kill, f"outcomes in {example.store} while it was dead"),
        "recorded calls repeated": (report.repeated_recorded, "must be 0"),
        "calls in flight repeated": (report.repeated_in_flight, "outcome not recorded; same idempotency key"),
        "time lost": (" + ".join(f"{lost:.1f} s" for lost in run.lost_s) or "none", "from the kill until all runs"),
        "total time": (f"{seconds:.0f} s", ""),
    }
    print("\nSummary")
    for name, (value, note) in figures.items():
        print(f"  {name:<27} {value!s:>7}   {note}".rstrip())
    for problem in report.problems:
        print(f"  WRONG: {problem}")
    if report.problems:
        print("  The job failed with:", *dict.fromkeys(run.failures), sep="\n    ")
    print("\nEverything holds." if not report.problems else "\nFAILED: see what is marked WRONG.", flush=True)
