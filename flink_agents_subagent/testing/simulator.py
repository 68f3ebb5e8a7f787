"""`simulate_crashes`: kills an agent wherever it can die, and checks what the engine promises (E8.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import ActionError, AgentError, ContextMisuseError, SimulationError
from flink_agents_subagent.testing.clock import ManualClock
from flink_agents_subagent.testing.element import SourceInput
from flink_agents_subagent.testing.job import LocalInput, calls_of, make_job, memory_of, outputs_of, source_of
from flink_agents_subagent.testing.ledger import Violation
from flink_agents_subagent.testing.life import Crashes, Simulation
from flink_agents_subagent.testing.process import Job
from flink_agents_subagent.testing.replay import check_replay, check_same
from flink_agents_subagent.testing.report import SimulationReport
from flink_agents_subagent.testing.result import LocalResult
from flink_agents_subagent.testing.runner import local_loop
from flink_agents_subagent.testing.schedule import Reorder, Schedule

__all__ = ["Trial", "simulate_crashes"]


def simulate_crashes(
    agent: Agent,
    inputs: Iterable[LocalInput],
    *,
    seeds: int | Iterable[int] = 20,
    reorder: Reorder = "keys",
    options: Mapping[str, Any] | None = None,
    only: str | None = None,
) -> SimulationReport:
    """Run an agent, then again and again with crashes, and check that nothing can be told from the outside.

    First without a crash, to count the points at which the process can die: before and after every input, append,
    acknowledgement, start and end of a call, timer and checkpoint. Then with a crash at each of them. Then once per seed with several
    crashes, with inputs, calls and the store taking turns at random. After a crash, what was not durable is lost: outputs and memory
    go back to the last complete checkpoint, and the source brings back the inputs that came after it.

    Guarantee: passes only if in each of these runs

    * a replay of the final journal, which holds all that an action may depend on, gives the same outputs and memory;
    * no call was made whose outcome was recorded, and no failed attempt was forgotten (E3.6, E3.9);
    * a call with a reconciler was made once at most, after its intent was durable (E3.6);
    * a call made again had the same identity, and so the same idempotency key, as before (E5.3);
    * every input ended exactly once.

    Durable functions are really called, and called again where the contract allows it: use fakes. They, and the clock, keep their
    state across simulated crashes; resources are opened once. Time is virtual, as in `LocalRunner`.
    Thread: the caller's.

    Args:
        agent: With its actions and resources. Nothing of it may depend on time, chance or its own attributes but through `ctx`.
        inputs: As of `LocalRunner.run`; a few that cover the agent's branches. The cost grows with their square.
        seeds: The seeds of the random part, or their number.
        reorder: How inputs come back after a restore: `none`, those of different keys mixed otherwise (`keys`), or those of one
            key too (`inputs`).
        options: As of `LocalRunner`; `replay.unclaimed-retention` is without end unless it is given.
        only: What a `SimulationError` says: the one run that failed.

    Raises:
        SimulationError: A check failed; names the first point of divergence, and what to pass as `only` to repeat it.
        AgentError: The agent fails without any crash.
    """
    # Virtual hours pass while an input waits to come back: a journal must not be given up meanwhile.
    job = make_job(agent, {"replay.unclaimed-retention": "36500 d", **(options or {})})
    trial = Trial(job, source_of(inputs), reorder)
    if only is not None:
        trial.run(only)
        return trial.report()
    for point in range(1, trial.reference.points + 1):
        trial.run(f"point {point}")
    for seed in range(seeds) if isinstance(seeds, int) else seeds:
        trial.run(f"seed {seed}")
    return trial.report()


class Trial:
    """All simulations of one agent, the one without crashes first."""

    def __init__(self, job: Job, source: list[SourceInput], reorder: Reorder) -> None:
        """Run and check the job without crashes."""
        self._job = job
        self._source = source
        self._reorder: Reorder = reorder
        self._simulations = 0
        self._crashes = 0
        self._repeated = 0
        self._differences: list[str] = []
        # The same seed with and without a crash, so that the points are the same up to it.
        self.reference = self._simulate(self._fair("none"), Crashes(), None)

    def run(self, which: str) -> None:
        """Run and check one job with crashes: `point <n>` or `seed <n>`."""
        kind, _, number = which.partition(" ")
        if kind not in ("point", "seed") or not number.isdecimal():
            raise ContextMisuseError(f"there is no run {which!r}; give 'point <n>' or 'seed <n>'")
        if kind == "point":
            simulation = self._simulate(self._fair(self._reorder), Crashes(at=int(number)), which)
        else:
            schedule = Schedule(int(number), is_fair=False, reorder=self._reorder)
            simulation = self._simulate(schedule, Crashes(points=self.reference.points), which)
        self._simulations += 1
        self._crashes += len(simulation.deaths)
        self._repeated += simulation.ledger.repeated
        try:
            check_same(
                self._job, simulation.world.checkpoint, self.reference.world.checkpoint, "the run without crashes"
            )
        except Violation as difference:
            self._differences.append(f"{which}: {difference}")

    def report(self) -> SimulationReport:
        """Return what was found."""
        return SimulationReport(
            points=self.reference.points,
            simulations=self._simulations,
            crashes=self._crashes,
            repeated_calls=self._repeated,
            differences=self._differences,
            result=_result(self._job, self.reference),
        )

    def _fair(self, reorder: Reorder) -> Schedule:
        return Schedule(0, is_fair=True, reorder=reorder)

    def _simulate(self, schedule: Schedule, crashes: Crashes, which: str | None) -> Simulation:
        simulation = Simulation(self._job, self._source, schedule, crashes, is_ordered=self._reorder != "inputs")
        clock = ManualClock()
        with local_loop(self._job, clock) as loop:
            try:
                simulation.run(loop, clock)
            except (Violation, AgentError) as error:
                if which is None and isinstance(error, AgentError):
                    raise
                raise _failure(simulation, error, which) from error
            try:
                check_replay(self._job, simulation.world, loop)
            except (Violation, AgentError) as error:
                raise _failure(simulation, error, which) from error
        return simulation


def _failure(simulation: Simulation, error: Exception, which: str | None) -> SimulationError:
    deaths = ", then ".join(simulation.deaths)
    when = f"with crashes ({deaths})" if deaths else "without a crash"
    again = "" if which is None else f"\nRepeat with simulate_crashes(agent, inputs, only={which!r}, ...)"
    return SimulationError(f"{when}: {type(error).__name__}: {error}\n{_hint(error)}{again}")


def _hint(error: Exception) -> str:
    if isinstance(error, ActionError) and isinstance(error.__cause__, TimeoutError | asyncio.TimeoutError):
        return (
            "Time goes by while a job is down or its store is slow, and a call that was in flight begins anew: a time-out may pass "
            "that does not pass otherwise. Let the action deal with it, or give it more time."
        )
    return (
        "An action must depend on its input, memory, and the results of durable calls alone; take time, chance and ids from "
        "ctx.now(), ctx.random() and ctx.uuid4()."
    )


def _result(job: Job, simulation: Simulation) -> LocalResult:
    final = simulation.world.checkpoint
    return LocalResult(
        outputs=outputs_of(final.outputs, dead_letters=False),
        dead_letters=outputs_of(final.outputs, dead_letters=True),
        calls=calls_of(simulation.world.invocations),
        memory=memory_of(job, final.state),
    )
