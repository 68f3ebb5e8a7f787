"""The option `replay.on-mismatch: rerun`: code that changed goes on afresh, and only what left the operator stays (E3.7, E1.9)."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Emit
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import ReplayMismatchError
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Disk, Host, agent_of, on
from tests.unit._engine.programs import coroutine

pytestmark = pytest.mark.logs_warning


class Billed(Event):
    """Sent in the middle of the first action."""


def billing(argument: int) -> Any:
    """Return an action whose first call has this argument: another one is changed code."""

    async def bill(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output="bill 1"))
        await ctx.durable_execute_async(coroutine, argument)
        ctx.send_event(Billed())
        ctx.send_event(OutputEvent(output="bill 2"))
        await ctx.durable_execute_async(coroutine, "second")
        ctx.send_event(OutputEvent(output="bill 3"))

    return bill


@on(Billed)
async def ship(event: Billed, ctx: RunnerContext) -> None:
    """Emit before and after a call."""
    ctx.send_event(OutputEvent(output="ship 1"))
    await ctx.durable_execute_async(coroutine, "ship")
    ctx.send_event(OutputEvent(output="ship 2"))


@on(Billed)
def note(event: Billed, ctx: RunnerContext) -> None:
    """Emit, and end."""
    ctx.send_event(OutputEvent(output="noted"))


@on(Billed)
def record(event: Billed, ctx: RunnerContext) -> None:
    """Take the place of `note`."""
    ctx.send_event(OutputEvent(output="recorded"))


ALL = ["bill 1", "bill 2", "bill 3", "noted", "ship 1", "ship 2"]


def restored(disk: Disk, *actions: Any) -> Host:
    """Go on with code that may have changed."""
    host = Host(agent_of(*actions), disk, now_ms=2_000_000, on_mismatch="rerun")
    host.start()
    return host


def checkpointed() -> tuple[Host, Disk]:
    """Return a host behind its first call, and its checkpoint."""
    host = Host(agent_of(billing(1), note, ship))
    host.input(1)
    host.run_call()
    host.acknowledge()
    assert host.outputs == ["bill 1", "bill 2", "noted", "ship 1"]
    return host, host.snapshot()


def test_what_has_left_before_the_checkpoint_does_not_leave_again() -> None:
    """Neither of the action that no longer fits, nor of those that it starts later, finished or not [E1.9, E3.7]."""
    before, disk = checkpointed()

    again = restored(disk, billing(2), note, ship)
    again.run()

    assert again.counted("mismatches") == 1
    assert sorted(before.outputs + again.outputs) == ALL
    assert again.finished == [0]


def test_nor_after_another_checkpoint() -> None:
    """One that was taken while the action waits for the call that it makes afresh [E1.9, E3.7]."""
    before, disk = checkpointed()
    second = restored(disk, billing(2), note, ship)
    assert second.outputs == []

    third = restored(second.snapshot(), billing(2), note, ship)
    third.run()

    assert sorted(before.outputs + third.outputs) == ALL


def test_an_action_that_was_replaced_begins_afresh() -> None:
    """What it sends counts as what the other one sent in its place [E1.9, E3.7]."""
    before, disk = checkpointed()

    again = restored(disk, billing(1), record, ship)
    again.run()

    assert again.failure is None
    assert sorted(before.outputs + again.outputs) == ALL


@pytest.mark.parametrize("crashes", [1, 2, 3])
def test_a_journal_with_resets_replays(crashes: int) -> None:
    """Code that changes once more, at each crash, leaves a journal that its last version replays [E3.7]."""
    log: list[Any] = []
    for number in range(crashes + 1):
        host = Host(
            agent_of(billing(number), note, ship), Disk(log=log), now_ms=10**6 * (number + 1), on_mismatch="rerun"
        )
        host.start()
        host.input(1)
        for _ in range(2):
            host.run_call()
            host.acknowledge()
        log = host.disk.log
    host.run()

    again = restored(Disk(log=log), billing(crashes), note, ship)
    again.input(1)

    assert again.counted("mismatches") == 0
    assert again.outputs == host.outputs
    assert again.calls == {}


def sends_on(event: InputEvent, ctx: RunnerContext) -> None:
    """Take an id, and start another action."""
    ctx.uuid4()
    ctx.send_event(Billed())


def fails(event: InputEvent, ctx: RunnerContext) -> None:
    """Fail where another action was started."""
    ctx.uuid4()
    raise ValueError("changed")


@pytest.mark.parametrize("on_mismatch", ["fail", "rerun"])
def test_a_failure_before_a_recorded_action_is_a_mismatch(on_mismatch: str) -> None:
    """The input is not dead-lettered because the code changed, unless that is wanted [E2.2, E3.7, E1.8]."""
    host = Host(agent_of(sends_on, ship))
    host.input(1)
    host.run()

    settings = {"on_action_error": "dead-letter", "on_mismatch": on_mismatch}
    again = Host(agent_of(fails, ship), Disk(log=host.disk.log), **settings)
    again.start()
    again.input(1)

    letters = [emit.payload["error_message"] for emit in again.of(Emit)]
    if on_mismatch == "fail":
        assert isinstance(again.failure, ReplayMismatchError)
        assert "execution 1, slot 0" in str(again.failure)
        assert letters == []
    else:
        assert again.failure is None
        assert letters == ["changed"]
