"""What authors pass and raise that nobody should: it ends in an error that names their action, not in one of the engine."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from flink_agents_subagent._engine.effects import Emit
from flink_agents_subagent.context import RetryPolicy, RunnerContext
from flink_agents_subagent.errors import ActionError, ContextMisuseError
from flink_agents_subagent.events import InputEvent, OutputEvent
from tests.unit._engine.host import Host, agent_of, on
from tests.unit._engine.programs import coroutine


class TextFailsError(Exception):
    """Raises when it is asked for its text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class TextIsNoTextError(Exception):
    """Returns a number for its text."""

    def __str__(self) -> str:
        return 5  # type: ignore[return-value]  # noqa: PLE0307


class ReprFailsError(Exception):
    """Has no representation."""

    def __repr__(self) -> str:
        raise RuntimeError("no representation")


_BROKEN = [TextFailsError("x"), TextIsNoTextError("x"), ReprFailsError("x")]


@pytest.mark.parametrize("error", _BROKEN, ids=lambda error: type(error).__name__)
def test_an_action_may_raise_what_has_no_text(error: Exception) -> None:
    """The job fails with the action named, or the input is dead-lettered, as with any exception [E1.8]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        raise error

    host = Host(agent_of(action))
    host.input(1)
    assert isinstance(host.failure, ActionError)
    assert (
        f"action 'action' of agent 'agent' failed for key #d38711dd540c, run without number: {type(error).__name__}: "
        in str(host.failure)
    )

    host = Host(agent_of(action), on_action_error="dead-letter")
    host.input(1)
    (letter,) = host.of(Emit)
    assert letter.payload["error_type"] == type(error).__name__


@pytest.mark.parametrize("error", _BROKEN, ids=lambda error: type(error).__name__)
def test_a_call_may_raise_what_has_no_text(error: Exception) -> None:
    """Its attempts and its outcome are recorded, and the action gets an exception [E3.5, E3.9]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        def call() -> None:
            raise error

        with pytest.raises(Exception):  # noqa: B017, PT011 - which class it is depends on whether it can be rebuilt
            await ctx.durable_execute_async(call, retry=RetryPolicy(max_attempts=2))
        ctx.send_event(OutputEvent(output="caught"))

    host = Host(agent_of(action))
    host.input(1)
    host.run()

    assert host.outputs == ["caught"]
    assert host.counted("calls_started") == 2


@pytest.mark.parametrize("change_id", [5, b"x", object(), "", None, ("x",)])
def test_a_patch_needs_a_name(change_id: Any) -> None:
    """It is refused where it is given, not where it would be recorded [E3.8]."""

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.patched(change_id)

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert isinstance(host.failure.__cause__, ContextMisuseError)
    assert f"takes the name of a change, a text that is not empty; not {change_id!r}" in str(host.failure)


def test_a_condition_may_raise_anything() -> None:
    """It is the failure of its action [E1.2, E1.8]."""

    def leave(event: InputEvent) -> bool:
        raise SystemExit

    @on(InputEvent, leave)
    def action(event: InputEvent, ctx: RunnerContext) -> None:
        """Do nothing."""

    host = Host(agent_of(action))
    host.input(1)

    assert isinstance(host.failure, ActionError)
    assert "action 'action'" in str(host.failure)


def _elsewhere(use: Any) -> Any:
    """Return what a function raises or returns on another thread."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(use())
        except ContextMisuseError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize(
    "use", [lambda handle: handle.cancel(), lambda handle: handle.add_done_callback(print)], ids=["cancel", "wait"]
)
def test_a_handle_belongs_to_its_action(use: Any) -> None:
    """Another run's code, or another thread, would change what it does without a record of it [E2.2, E3.12]."""
    kept: list[Any] = []
    refused: list[Any] = []

    async def action(event: InputEvent, ctx: RunnerContext) -> None:
        if event.input == "first":
            kept.append(ctx.durable_execute_async(coroutine, 1))
            refused.append(_elsewhere(lambda: use(kept[0])))
            await ctx.durable_execute_async(coroutine, 2)
            return
        try:
            use(kept[0])
        except ContextMisuseError as error:
            refused.append(error)

    host = Host(agent_of(action))
    host.input("first", "a")
    refused.append(_elsewhere(lambda: use(kept[0])))
    host.input("second", "b")

    assert len(refused) == 3
    assert all("of action 'action' was used outside the action" in str(error) for error in refused)
    assert len(host.calls) == 2
    host.run()
    assert host.finished == [2, 1]
