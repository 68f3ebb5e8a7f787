"""What docs/durable-calls.md says of code that changes under runs that are under way."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flink_agents_subagent import Agent, InputEvent, OutputEvent, ReplayMismatchError, RunnerContext
from tests.docs.pages import page
from tests.docs.versions import go_on, stopped_after

_INPUTS = [("ada", 5)]

made: list[str] = []


def first(amount: int) -> str:
    """Be the call of the first version."""
    made.append("first")
    return f"first {amount}"


def second(amount: int) -> str:
    """Be another call."""
    made.append("second")
    return f"second {amount}"


def third(amount: int) -> str:
    """Be a call that never gets its turn in the first version."""
    made.append("third")
    return f"third {amount}"


def version(*functions: Any, tail: Any = None) -> Agent:
    """Return an agent that makes these calls one after the other and sends their results."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        texts = [
            await ctx.durable_execute_async(third if function == "third" else function, event.input)
            for function in functions
        ]
        if tail is not None:
            texts.append(await tail(event, ctx))
        ctx.send_event(OutputEvent(output=texts))

    return Agent("till").add_action("act", InputEvent, act)


@pytest.fixture(autouse=True)
def _nothing_made() -> None:
    made.clear()


@pytest.mark.parametrize("checkpoint", [False, True])
def test_another_call_is_found_before_anything_is_sent(checkpoint: bool) -> None:
    """The error names agent, run, slot and both calls; the new one has not been made [E3.7, E4.8]."""
    world = stopped_after(version(first, third), _INPUTS, 1, checkpoint=checkpoint)

    with pytest.raises(ReplayMismatchError) as caught:
        go_on(world, version(second, third))

    assert re.match(
        r"agent 'till', key #[0-9a-f]{12}, run 1: the code does not do what is recorded: record 1 \(outcome, execution 0, "
        rf"slot 0, {__name__}:first with arguments ([0-9a-f]+)\): the code calls {__name__}:second with arguments \1\. "
        r"Bring back the code that wrote the journal, guard the change with ctx\.patched, or set replay\.on-mismatch: rerun",
        str(caught.value),
    )
    assert "second" not in made


def test_other_arguments_are_another_call() -> None:
    """Not only the function's name counts [E3.7, E3.2]."""

    async def other(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(first, event.input + 1)

    world = stopped_after(version(first, third), _INPUTS, 1)

    with pytest.raises(ReplayMismatchError, match=f"the code calls {__name__}:first with arguments"):
        go_on(world, Agent("till").add_action("act", InputEvent, other))


def test_code_that_calls_nothing_any_more_is_seen_in_a_checkpoint_only() -> None:
    """A run of the checkpoint has its journal; an input that comes back does not ask for the one that waits for it [E3.7, E4.4]."""
    world = stopped_after(version(first, third), _INPUTS, 1, checkpoint=True)

    with pytest.raises(ReplayMismatchError, match="the code has not reserved slot 0"):
        go_on(world, version())
    assert go_on(stopped_after(version(first, third), _INPUTS, 1), version()) == [[]]


@pytest.mark.logs_warning
@pytest.mark.parametrize("checkpoint", [False, True])
def test_rerun_repeats_the_calls_from_there_on(checkpoint: bool) -> None:
    """What fits is kept, the first record that does not fit and all behind it are discarded [E3.7]."""
    world = stopped_after(version(first, second, third), _INPUTS, 2, checkpoint=checkpoint)
    made.clear()

    outputs = go_on(world, version(first, third, second), {"replay.on-mismatch": "rerun"})

    assert outputs == [["first 5", "third 5", "second 5"]]
    assert made == ["third", "second"]


@pytest.mark.parametrize("checkpoint", [False, True])
def test_calls_behind_the_recorded_ones_may_be_added(checkpoint: bool) -> None:
    """The recorded one is not repeated, the new one is made [E4.8]."""
    world = stopped_after(version(first), _INPUTS, 1, checkpoint=checkpoint)

    assert go_on(world, version(first, second)) == [["first 5", "second 5"]]
    assert made == ["first", "second"]


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_patched_action_goes_the_old_way_for_old_runs_only(checkpoint: bool) -> None:
    """An older journal is followed to its end; the input behind it, of which nothing is recorded, goes the new way [E3.8]."""
    till, new_till = page("durable-calls").Till, page("durable-calls").NewTill
    world = stopped_after(till("till"), [("ada", 5), ("ada", 7)], 1, checkpoint=checkpoint)

    assert go_on(world, new_till("till")) == ["receipt for 5", "card receipt for 7"]


def test_a_patched_run_stays_patched() -> None:
    """A run that went the new way goes it again after a crash, although its journal is replayed [E3.8]."""

    async def patched(event: InputEvent, ctx: RunnerContext) -> str:
        return str(await ctx.durable_execute_async(second if ctx.patched("new") else third, event.input))

    agent = version(first, tail=patched)
    world = stopped_after(agent, _INPUTS, 2)

    assert go_on(world, agent) == [["first 5", "second 5"]]
    assert made == ["first", "second"]


def test_a_renamed_action_is_found_where_a_checkpoint_holds_it() -> None:
    """The checkpoint's table of executions names both actions [E3.7, E4.8]."""
    world = stopped_after(version(first, third), _INPUTS, 1, checkpoint=True)
    renamed = Agent("till").add_action("do", InputEvent, version(first, third).actions[0].function)

    with pytest.raises(ReplayMismatchError, match="execution 0 was one of action 'act', the code starts 'do'"):
        go_on(world, renamed)
