"""Two versions of an agent: the first one's process dies in the middle, the second one goes on. Owns death and restore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flink_agents_subagent import Agent
from flink_agents_subagent.testing import ManualClock
from flink_agents_subagent.testing.activity import Observer
from flink_agents_subagent.testing.job import LocalInput, make_job, source_of
from flink_agents_subagent.testing.process import Process
from flink_agents_subagent.testing.runner import local_loop
from flink_agents_subagent.testing.world import World

__all__ = ["go_on", "stopped_after"]


def stopped_after(agent: Agent, inputs: Iterable[LocalInput], records: int, *, checkpoint: bool = False) -> World:
    """Return what a process leaves that died when the store had so many records, right after a checkpoint if wanted."""
    world, clock = World(source=source_of(inputs)), ManualClock()
    job = make_job(agent, None)
    with local_loop(job, clock) as loop:
        process = Process(job, world, clock, loop, Observer())
        process.restore(world.source)
        while len(world.records) < records:
            _advance(process)
        if checkpoint:
            process.checkpoint()
        process.close()
    return world


def go_on(world: World, agent: Agent, options: Mapping[str, Any] | None = None) -> list[Any]:
    """Let another version of the agent go on to its end; return the values of all outputs, those of the first one included."""
    clock = ManualClock()
    job = make_job(agent, options)
    with local_loop(job, clock) as loop:
        process = Process(job, world, clock, loop, Observer())
        try:
            process.restore(world.remaining())
            while process.progress.finished < len(world.source):
                _advance(process)
        finally:
            process.close()
    return [output.value for output in process.outputs]


def _advance(process: Process) -> None:
    possible = process.activities()
    if possible:
        process.perform(possible[0])
    else:
        assert process.let_time_pass(), "nothing can happen any more"
