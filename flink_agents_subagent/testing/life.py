"""Runs a job over a world that survives crashes, until all inputs have ended. Owns crash and restart; judges nothing itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flink_agents_subagent._engine.effects import Append, StartCall
from flink_agents_subagent.errors import AgentError
from flink_agents_subagent.testing.activity import Activity, Observer
from flink_agents_subagent.testing.clock import ManualClock
from flink_agents_subagent.testing.element import SourceInput
from flink_agents_subagent.testing.ledger import Ledger, Violation
from flink_agents_subagent.testing.process import Job, Process
from flink_agents_subagent.testing.progress import Start
from flink_agents_subagent.testing.runner import stuck_error
from flink_agents_subagent.testing.schedule import Schedule
from flink_agents_subagent.testing.virtual_loop import VirtualLoop
from flink_agents_subagent.testing.world import World

__all__ = ["Crashes", "Simulation"]

_MAX_ACTIVITIES = 100_000
_MAX_CRASHES = 5


class _ProcessDied(KeyboardInterrupt):
    """Ends a process in the middle of whatever it does.

    A `KeyboardInterrupt`, the one exception that nothing between an author's code and the host takes for a failed action.
    """


@dataclass(slots=True)
class Crashes:
    """When processes die: once at a given point, or at random points, or never."""

    at: int | None = None
    """The point of the first life, from 1."""
    points: int = 0
    """About how many points a job passes; 0: no random crashes."""


class Simulation(Observer):
    """One job, from its first to its last life.

    After `run` the world holds the final checkpoint, with every input in it.
    """

    def __init__(
        self, job: Job, source: list[SourceInput], schedule: Schedule, crashes: Crashes, *, is_ordered: bool = True
    ) -> None:
        """Prepare; `is_ordered` as of `Ledger`."""
        self._job = job
        self._schedule = schedule
        self._crashes = crashes
        self._clock = ManualClock()
        self._dies_at = crashes.at
        self._is_dead = False
        self._violation: Violation | None = None
        """Kept, because the engine takes what a `def` action's append raises for a fault of the store."""
        self.ledger = Ledger(job, source, is_ordered=is_ordered)
        self.world = World(source=source)
        self.points = 0
        """Points passed, of all lives together."""
        self.deaths: list[str] = []
        """Where each life but the last ended."""

    def run(self, loop: VirtualLoop, clock: ManualClock) -> None:
        """Run until every input has ended.

        Raises:
            Violation: A contract is broken.
            AgentError: An action failed, or the engine stopped.
        """
        self._clock = clock
        while True:
            if self._crashes.points and len(self.deaths) < _MAX_CRASHES:
                self._dies_at = self.points + self._schedule.next_crash(self._crashes.points)
            self._is_dead = False
            process = Process(self._job, self.world, clock, loop, self)
            try:
                process.restore(self._schedule.order(self.world.remaining()) if self.deaths else self.world.source)
                if self.deaths and self._schedule.wants_checkpoint_at_once():
                    process.checkpoint()
                self._drive(process)
                process.checkpoint()
            except _ProcessDied:
                self._pass_on()
            except AgentError as error:
                if self._violation is None:
                    raise
                raise self._violation from error
            else:
                return
            finally:
                process.close()

    def _drive(self, process: Process) -> None:
        inputs = len(self.world.source)
        for _ in range(_MAX_ACTIVITIES):
            if process.progress.finished == inputs:
                return
            if self._schedule.wants_checkpoint():
                process.checkpoint()
            choice = self._schedule.choose(process)
            if choice is not None:
                process.perform(*choice)
            elif not process.let_time_pass() and not process.activities():
                raise stuck_error(process, inputs)
        raise AgentError(f"the job does not end: it has done {_MAX_ACTIVITIES} things")

    def _pass_on(self) -> None:
        if self._schedule.wants_older_checkpoint():
            self.world.roll_back()
        self._clock.advance(self._schedule.pause_ms() / 1000)

    # Observer

    def point(self, label: str) -> None:
        """Die here, if it is time."""
        # Code of a process that is dead already gets nowhere.
        if not self._is_dead:
            self.points += 1
            if self.points != self._dies_at:
                return
            self._is_dead = True
            self.deaths.append(label)
        raise _ProcessDied

    def starting(self, call: StartCall, life: int, run: Start) -> None:
        """Hold a call against the contracts."""
        with self._kept_violation():
            self.ledger.starting(call, life, run)

    def finishing(self, run: Start) -> None:
        """Let the ledger know of the end of a run."""
        self.ledger.finishing(run)

    def appending(self, append: Append, life: int) -> None:
        """Hold a record against the contracts."""
        with self._kept_violation():
            self.ledger.appending(append, life)

    def acting(self, activity: Activity) -> None:
        """Hold an output or an end against the contracts."""
        with self._kept_violation():
            self.ledger.acting(activity)

    @contextmanager
    def _kept_violation(self) -> Iterator[None]:
        try:
            yield
        except Violation as violation:
            self._violation = violation
            raise
