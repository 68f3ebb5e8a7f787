"""`LocalRunner`: an agent in process, in virtual time, without crashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from flink_agents_subagent._engine.encoding import key_value
from flink_agents_subagent._plan import ResourceLifecycle
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import AgentError
from flink_agents_subagent.testing.activity import Activity, Observer
from flink_agents_subagent.testing.clock import ManualClock
from flink_agents_subagent.testing.job import LocalInput, calls_of, make_job, memory_of, outputs_of, source_of
from flink_agents_subagent.testing.process import Job, Process
from flink_agents_subagent.testing.result import LocalResult
from flink_agents_subagent.testing.virtual_loop import VirtualLoop
from flink_agents_subagent.testing.world import Checkpoint, World

__all__ = ["LocalRunner", "local_loop", "stuck_error"]

_MAX_ACTIVITIES = 1_000_000


class LocalRunner:
    """Runs an agent in process: the same engine as in Flink, without Flink (E8.1).

    Guarantee: deterministic. Inputs arrive in the given order as fast as they can; those of one key run one after the other,
        those of different keys at the same time.
    Thread: the caller's. Blocking durable functions run in line; coroutine functions, and resources that open asynchronously,
        on one asyncio loop that is driven from here too, so that `run` may also be called from an asynchronous test.

    Time is virtual: sleeps, time-outs, pauses between retries, and `asyncio.sleep` in coroutine functions take none. A blocking
    function that calls `time.sleep` really sleeps, and is not interrupted by its time-out; it can move `clock` instead. Sockets
    and threads that a coroutine function uses keep their real time.
    """

    def __init__(
        self, agent: Agent, *, options: Mapping[str, Any] | None = None, clock: ManualClock | None = None
    ) -> None:
        """Compile an agent.

        Args:
            agent: With its actions and resources.
            options: As of `docs/options.md`; those of stores have no effect.
            clock: To be moved by the functions under test; a new one starts on 1 January 2024.

        Raises:
            DefinitionError: The agent or an option is wrong.
        """
        self.clock = clock or ManualClock()
        self._job = make_job(agent, options)
        self._world = World()

    def run(self, inputs: Iterable[LocalInput]) -> LocalResult:
        """Give inputs to the agent and return what they caused, when all their runs have ended.

        Short-term memory lasts from one `run` to the next; resources are opened and closed by each.

        Args:
            inputs: Pairs of key and value, or triples with the timestamp in milliseconds. Values are pickled and unpickled, as
                they are in Flink.

        Raises:
            ActionError: An exception escaped an action, and `on-action-error` is `fail`.
            EngineError: Something else stopped the engine, as it would in Flink.
            AgentError: A run waits for something that never comes.
        """
        world = self._world
        world.source = source_of(inputs)
        world.invocations.clear()
        with local_loop(self._job, self.clock) as loop:
            process = Process(self._job, world, self.clock, loop, Observer())
            try:
                process.restore(world.source)
                _finish(process, len(world.source))
            finally:
                process.close()
        world.checkpoints = [Checkpoint(state=process.state, position=len(world.records))]
        return LocalResult(
            outputs=outputs_of(process.outputs, dead_letters=False),
            dead_letters=outputs_of(process.outputs, dead_letters=True),
            calls=calls_of(world.invocations),
            memory=memory_of(self._job, process.state),
            metrics=dict(process.counters),
            events=process.events,
        )


@contextmanager
def local_loop(job: Job, clock: ManualClock) -> Iterator[VirtualLoop]:
    """Provide the loop of coroutine calls, with the job's resources open."""
    loop = VirtualLoop(clock)
    try:
        resources = ResourceLifecycle(job.agent.resources, loop.finish)
        resources.open()
        try:
            yield loop
        finally:
            resources.close()
    finally:
        loop.dispose()


def stuck_error(process: Process, inputs: int) -> AgentError:
    """Return the error of a process in which nothing can happen any more."""
    keys = sorted(repr(key_value(key)) for key in process.progress.open_keys())
    return AgentError(
        f"{inputs - process.progress.finished} of {inputs} inputs never end (keys {', '.join(keys)}): an action, or a function that it "
        "called, waits for something that nobody sets"
    )


def _finish(process: Process, inputs: int) -> None:
    """Do what can be done, oldest first, until every input has ended."""
    for _ in range(_MAX_ACTIVITIES):
        if process.progress.finished == inputs:
            return
        possible = process.activities()
        if possible:
            process.perform(_ORDER[min(_ORDER.index(activity) for activity in possible)])
        elif not process.let_time_pass():
            raise stuck_error(process, inputs)
    raise AgentError(f"the run does not end: it has done {_MAX_ACTIVITIES} things; an action probably sleeps in a loop")


_ORDER = list(Activity)
