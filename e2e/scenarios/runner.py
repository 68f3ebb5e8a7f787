"""Runs scenarios one after the other and judges them. Owns the outcome of a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from e2e.scenarios.checker import Report, Rules, check
from e2e.scenarios.model import Reorder, Scenario
from e2e.scenarios.run import ScenarioRun
from e2e.scenarios.steps import perform
from e2e.scenarios.world import Worlds

__all__ = ["Outcome", "run_scenario"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a scenario."""

    scenario: Scenario
    seed: int
    kills: int
    seconds: float
    reports: tuple[Report, ...]
    """One for each job."""
    problems: tuple[str, ...]
    """Empty: everything holds."""


def run_scenario(scenario: Scenario, seed: int, worlds: Worlds, folder: Path, say: Callable[[str], None]) -> Outcome:
    """Run a scenario below `folder`, which is empty; the time to start a cluster does not count.

    Raises:
        HarnessError: A process did not do what it had to. The world is gone then.
    """
    world = worlds.get(scenario.brokers)
    begin = time.monotonic()
    run = ScenarioRun(scenario, seed, folder, world, say)
    try:
        with run.desks:
            run.start()
            for step in scenario.steps:
                perform(run, step)
            run.finish()
            seconds = time.monotonic() - begin
            return _judge(run, seed, seconds)
    except BaseException:
        worlds.forget()
        raise


def _judge(run: ScenarioRun, seed: int, seconds: float) -> Outcome:
    scenario = run.scenario
    rules = Rules(
        repeats_in_flight=scenario.repeats != "none",
        order_may_change=any(isinstance(step, Reorder) for step in scenario.steps),
    )
    reports = tuple(check(job.expectation, run.evidence(job), rules) for job in run.jobs)
    problems = [problem for report in reports for problem in report.problems]
    if scenario.repeats == "none":
        problems += [f"job {job.name} failed: {failure[:500]}" for job in run.jobs for failure in run.failures(job)]
    return Outcome(scenario, seed, run.deaths, seconds, reports, tuple(problems))
