"""What leaves is what was sent, when it was sent."""

from __future__ import annotations

import pickle
from typing import Any

from flink_agents_subagent import InputEvent, NotExpressibleError, OutputEvent, RunnerContext
from flink_agents_subagent._engine.effects import EnginePorts
from flink_agents_subagent._engine.engine import Engine
from flink_agents_subagent._engine.settings import EngineSettings
from tests.unit._engine.host import Disk, Host, agent_of


async def call(number: int) -> int:
    """A durable function."""
    return number


async def send_growing_lists(event: InputEvent, ctx: RunnerContext) -> None:
    """Send one list after each call, and go on to change it."""
    values: list[int] = []
    for number in range(3):
        values.append(await ctx.durable_execute_async(call, number))
        ctx.send_event(OutputEvent(output=values))


def test_a_later_change_of_an_output_is_not_seen() -> None:
    """A replay, which passes many steps at once, sends what the first run sent step by step [E1.2, E1.9]."""
    host = Host(agent_of(send_growing_lists))
    host.input(1)
    host.run()

    again = Host(agent_of(send_growing_lists), Disk(log=list(host.disk.log)))
    again.start()
    again.input(1)

    assert host.outputs == again.outputs == [[0], [0, 1], [0, 1, 2]]


def _numbers_only(value: object) -> object:
    if not isinstance(value, int):
        raise NotExpressibleError(f"{value!r} is no number")
    return value


async def send_something_else_first(event: InputEvent, ctx: RunnerContext) -> None:
    """Send an output that cannot leave, then one that can."""
    try:
        ctx.send_event(OutputEvent(output="text"))
    except NotExpressibleError:
        await ctx.durable_execute_async(call, 1)
    ctx.send_event(OutputEvent(output=2))


def test_an_output_that_cannot_be_encoded_is_the_actions_error() -> None:
    """It is raised where it was sent, and does not count as an output: after a restore it is raised again [E1.9]."""
    host = Host(agent_of(send_something_else_first))
    host.engine = _engine(host)
    host.input(1)
    entries = dict(host.engine.snapshot(host.now_ms))
    host.run()
    again = Host(agent_of(send_something_else_first), Disk(log=list(host.disk.log)))
    again.engine = _engine(again)
    for key, entry in entries.items():
        assert entry is not None
        again.engine.restore_entry(key, entry)
    for append in host.disk.log:
        again.engine.restore_record(append.key, append.run_number, append.record_number, append.payload)
    again.start()

    assert host.outputs == again.outputs == [2]


def _engine(host: Any) -> Engine:
    settings = EngineSettings(job_identifier="job", operator_uid="agent-sample")
    ports = EnginePorts(host, host, pickle.loads, _numbers_only)
    return Engine(agent_of(send_something_else_first), settings, ports)
