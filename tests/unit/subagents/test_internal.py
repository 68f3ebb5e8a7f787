"""Agents as sub-agents of others, on the local runner (N1–N5)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    ContextMisuseError,
    EngineError,
    Event,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
    SubagentFutures,
    SubagentResult,
    UnawaitedHandleError,
    action,
)
from flink_agents_subagent.testing import LocalResult, LocalRunner, simulate_crashes

Act = Callable[[InputEvent, RunnerContext], Any]


class Again(Event):
    """Starts the next round."""

    round: int


async def work(value: Any, takes: float = 0.01) -> Any:
    """Give back what it was given, after a while."""
    await asyncio.sleep(takes)
    return value


class Rounds(Agent):
    """Calls once per round; its memory says what it has seen."""

    def __init__(self, rounds: int) -> None:
        super().__init__("rounds")
        self.rounds = rounds

    @action(InputEvent)
    async def begin(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Start the first round."""
        ctx.sensory_memory.set("input", event.input)
        ctx.send_event(Again(round=1))

    @action(Again)
    async def go_on(self, event: Again, ctx: RunnerContext) -> None:
        """Make a call, and send the next round."""
        seen = [*ctx.short_term_memory.get("seen", []), await ctx.durable_execute_async(work, event.round)]
        ctx.short_term_memory.set("seen", seen)
        if event.round < self.rounds:
            ctx.send_event(Again(round=event.round + 1))
        else:
            ctx.send_event(OutputEvent(output=[ctx.sensory_memory.get("input"), seen]))


def caller(act: Act, **children: Any) -> Agent:
    """Return an agent with one action and these sub-agents."""
    agent = Agent("caller").add_action("act", InputEvent, act)
    for name, child in children.items():
        agent.add_resource(name, ResourceType.AGENT, child)
    return agent


def ask(ctx: RunnerContext, name: str, value: Any = None, timeout: float | None = None) -> Any:
    """Submit to a sub-agent."""
    return ctx.get_resource(name, ResourceType.AGENT).submit(ctx, value, timeout=timeout)


def run(act: Act, inputs: int = 1, options: dict[str, Any] | None = None, **children: Any) -> LocalResult:
    """Run a caller."""
    runner = LocalRunner(caller(act, **children), options=options or {})
    return runner.run([(f"k{number}", number) for number in range(inputs)])


def say(output: Any) -> OutputEvent:
    """Return an output."""
    return OutputEvent(output=output)


def test_a_child_runs_with_memory_of_its_own_and_gives_the_list_of_its_outputs() -> None:
    """Round N is readable in round N + 1, and nothing of it in the caller or in the next call [N1, N2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.short_term_memory.set("seen", ["mine"])
        results = [await ask(ctx, "rounds", {"n": number}) for number in range(2)]
        ctx.send_event(say([results, ctx.short_term_memory.get("seen"), ctx.sensory_memory.is_exist("input")]))

    result = LocalRunner(caller(act, rounds=Rounds(3))).run([("k", 1), ("k", 2)])

    expected = [SubagentResult.ok([[{"n": number}, [1, 2, 3]]]) for number in range(2)]
    assert result.values == [[expected, ["mine"], False]] * 2
    assert result.memory["k"] == {"seen": ["mine"]}


def test_children_replay_at_every_crash_point() -> None:
    """No recorded call of a child is repeated, its memory is rebuilt exactly, the result is the same [N3]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        first, second = ask(ctx, "rounds", 1), ask(ctx, "rounds", 2)
        results = await SubagentFutures(first, second).await_all()
        ctx.short_term_memory.set("result", [result.result for result in results])
        ctx.send_event(say(results))

    report = simulate_crashes(caller(act, rounds=Rounds(2)), [("a", 1)], seeds=5)

    assert report.points > 30


def fails(event: InputEvent, ctx: RunnerContext) -> None:
    """Raise what the input says."""
    raise ValueError(f"no {event.input}")


async def calls_twice_then_fails(event: InputEvent, ctx: RunnerContext) -> None:
    """Leave a call open and raise after another."""
    ctx.durable_execute_async(work, "open", 1000.0)
    await ctx.durable_execute_async(work, "first")
    raise ValueError("after a call")


@pytest.mark.logs_warning
def test_a_child_that_fails_is_a_failed_result_and_the_others_go_on() -> None:
    """Type and message of the exception; what it had open is cancelled, siblings and caller are untouched [N4, I7, V2]."""
    children = {
        "bad": Agent("bad").add_action("fails", InputEvent, fails),
        "late": Agent("late").add_action("act", InputEvent, calls_twice_then_fails),
        "good": Rounds(2),
    }

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        results = await SubagentFutures(*[ask(ctx, name, 1) for name in children]).await_all()
        ctx.send_event(say([(result.is_success, result.result, result.error_message) for result in results]))

    result = run(act, **children)

    assert result.values == [
        [(False, None, "ValueError: no 1"), (False, None, "ValueError: after a call"), (True, [[1, [1, 2]]], None)]
    ]
    assert [call.is_cancelled for call in result.calls if call.name.endswith("work")].count(True) == 1


def test_a_child_without_outputs_gives_an_empty_list() -> None:
    """Also when its input triggers nothing that sends [N1]."""

    def nothing(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.sensory_memory.set("x", 1)

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(say((await ask(ctx, "quiet")).result))

    assert run(act, quiet=Agent("quiet").add_action("nothing", InputEvent, nothing)).values == [[]]


class Shouts(Agent):
    """Gives its last output, loudly."""

    @action(InputEvent)
    def act(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Send two outputs."""
        ctx.send_event(say("a"))
        ctx.send_event(say(event.input))

    def subagent_result(self, outputs: list[Any]) -> Any:
        """Refuse what is no text."""
        return outputs[-1].upper()


@pytest.mark.logs_warning
def test_an_agent_says_what_its_outputs_become() -> None:
    """What that raises is the failure of the call [N1, N4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        results = [await ask(ctx, "shouts", value) for value in ("b", 1)]
        ctx.send_event(say([(result.result, result.error_message) for result in results]))

    assert run(act, shouts=Shouts()).values == [
        [("B", None), (None, "AttributeError: 'int' object has no attribute 'upper'")]
    ]


def test_nothing_runs_before_the_first_await_and_a_forgotten_handle_is_an_error() -> None:
    """A handle that is cancelled before it was awaited never starts the child; one that nobody looks at names the line [I4, I6, N1]."""
    begun: list[Any] = []

    def act_inside(event: InputEvent, ctx: RunnerContext) -> None:
        begun.append(event.input)

    child = Agent("child").add_action("act", InputEvent, act_inside)

    async def cancels(event: InputEvent, ctx: RunnerContext) -> None:
        handle = ask(ctx, "child", 1)
        await asyncio.sleep(1)
        assert handle.cancel() and not handle.cancel()
        with pytest.raises(asyncio.CancelledError):
            await handle

    async def forgets(event: InputEvent, ctx: RunnerContext) -> None:
        ask(ctx, "child", 2)

    run(cancels, child=child)
    with pytest.raises(UnawaitedHandleError, match=r"sub-agent 'child', submitted at .*test_internal\.py"):
        run(forgets, child=child)
    assert begun == []


@pytest.mark.logs_warning
def test_an_engine_fault_in_a_child_is_no_failed_result() -> None:
    """A handle that the child forgot fails the job; an engine error that a call brought surfaces at the caller's await [N4, T10]."""

    async def forgets(event: InputEvent, ctx: RunnerContext) -> None:
        ask(ctx, "inner", 2)

    def raises(event: InputEvent, ctx: RunnerContext) -> None:
        raise EngineError("from a call")

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            await ask(ctx, "child")
        except EngineError as error:
            ctx.send_event(say(str(error)))

    inner = Agent("inner").add_action("act", InputEvent, raises)
    forgetful = Agent("child").add_action("act", InputEvent, forgets).add_resource("inner", ResourceType.AGENT, inner)

    with pytest.raises(UnawaitedHandleError):
        run(act, child=forgetful)
    assert run(act, child=inner).values == ["from a call"]


def test_cancelling_a_handle_stops_the_child_and_its_calls() -> None:
    """The child's clean-up runs with a sealed context, and nothing of it is sent; the caller goes on [N4, I6]."""
    ended: list[str] = []

    async def act_inside(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            await ctx.durable_execute_async(work, 1, 1000.0)
        finally:
            with pytest.raises(ContextMisuseError):
                ctx.send_event(say("too late"))
            ended.append("child")

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        task = asyncio.ensure_future(_awaited(ask(ctx, "child")))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        ended.append("caller")
        ended.append(await ctx.durable_execute_async(work, "next"))

    result = run(act, child=Agent("child").add_action("act", InputEvent, act_inside))

    assert ended == ["caller", "child", "next"] and result.values == []
    assert [call.is_cancelled for call in result.calls] == [True, False]


async def _awaited(handle: Any) -> Any:
    return await handle


def test_a_time_out_ends_the_child_with_a_failed_result() -> None:
    """Its calls are cancelled; one that is faster is not touched [M6, N4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        slow, quick = ask(ctx, "rounds", 1, timeout=0.05), ask(ctx, "rounds", 2, timeout=50)
        results = await SubagentFutures(slow, quick).await_all()
        await asyncio.sleep(100)
        ctx.send_event(say([(result.reason, result.error_message) for result in results]))

    agent = caller(act, rounds=Rounds(6))

    assert LocalRunner(agent).run([("k", 1)]).values == [
        [("timeout", "sub-agent 'rounds' did not answer within 50 ms"), (None, None)]
    ]
    assert simulate_crashes(agent, [("k", 1)], seeds=5).points > 30


@pytest.mark.logs_warning
def test_a_child_that_waits_for_nothing_fails_alone() -> None:
    """As the run itself would, but the caller only gets a failed result, and the same one on replay [N4, E2.2]."""

    async def stuck(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(work, 1)
        await asyncio.get_running_loop().create_future()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        result = await ask(ctx, "stuck")
        await ctx.durable_execute_async(work, "later")
        ctx.send_event(say(result.error_message))

    agent = caller(act, stuck=Agent("stuck").add_action("act", InputEvent, stuck))

    assert "nothing will ever wake it" in LocalRunner(agent).run([("k", 1)]).values[0]
    simulate_crashes(agent, [("k", 1)], seeds=5)


def test_time_chance_and_ids_are_the_same_on_replay_and_differ_between_calls() -> None:
    """Sleeps and timers too; two calls of one child share no id [E2.5, E5.3]."""

    async def act_inside(event: InputEvent, ctx: RunnerContext) -> None:
        begun = ctx.now()
        await asyncio.sleep(2)
        made = [ctx.uuid4(), ctx.random().random()]
        await ctx.durable_execute_async(work, made)
        ctx.send_event(say([(ctx.now() - begun) >= timedelta(seconds=2), *made]))

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        results = await SubagentFutures(*[ask(ctx, "child") for _ in range(2)]).await_all()
        first, second = (result.result[0] for result in results)
        assert first[0] and first[1] != second[1] and first[2] != second[2]
        ctx.send_event(say([first, second]))

    simulate_crashes(caller(act, child=Agent("child").add_action("act", InputEvent, act_inside)), [("k", 1)], seeds=5)


def test_def_actions_of_a_child_replay() -> None:
    """Their calls block and are recorded within the step; the caller's logs keep what they took once the child is gone [E3.16, N3]."""

    def act_inside(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(say([ctx.durable_execute(abs, -number) for number in range(3)]))
        ctx.send_event(Again(round=1))

    def again(event: Again, ctx: RunnerContext) -> None:
        ctx.send_event(say(ctx.durable_execute(abs, -9)))

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.sleep(0.5)
        results = await SubagentFutures(*[ask(ctx, "child") for _ in range(2)]).await_all()
        ctx.send_event(Again(round=len(results)))
        ctx.send_event(say(results))

    async def after(event: Again, ctx: RunnerContext) -> None:
        await asyncio.sleep(3)
        ctx.send_event(say((await ask(ctx, "child")).result))

    child = Agent("child").add_action("act", InputEvent, act_inside).add_action("again", Again, again)
    agent = caller(act, child=child).add_action("after", Again, after)

    simulate_crashes(agent, [("k", 1)], seeds=10)


def test_a_thousand_children_wait_at_the_same_time_without_a_thread() -> None:
    """One per key, each with a call in flight; the process has the threads that it had before [N5]."""
    running: list[int] = []
    most: list[tuple[int, int]] = []

    async def slow(number: int) -> int:
        running.append(number)
        await asyncio.sleep(60)
        most.append((len(running), threading.active_count()))
        running.remove(number)
        return number

    async def act_inside(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(say(await ctx.durable_execute_async(slow, event.input)))

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(say((await ask(ctx, "child", event.input)).result))

    before = threading.active_count()
    result = run(act, inputs=1000, child=Agent("child").add_action("act", InputEvent, act_inside))

    assert sorted(result.values) == [[number] for number in range(1000)]
    assert most[0] == (1000, before)


def test_a_child_may_run_thousands_of_steps() -> None:
    """Each with an event, a memory write and a recorded call [N5]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ((value, seen),) = (await ask(ctx, "counts", 3000)).result
        ctx.send_event(say([value, seen]))

    class Counts(Agent):
        @action(InputEvent)
        def begin(self, event: InputEvent, ctx: RunnerContext) -> None:
            """Start to count."""
            ctx.sensory_memory.set("to", event.input)
            ctx.send_event(Again(round=1))

        @action(Again)
        async def count(self, event: Again, ctx: RunnerContext) -> None:
            """Count one further."""
            ctx.short_term_memory.set("sum", ctx.short_term_memory.get("sum", 0) + event.round)
            await ctx.durable_execute_async(work, event.round)
            if event.round < ctx.sensory_memory.get("to"):
                ctx.send_event(Again(round=event.round + 1))
            else:
                ctx.send_event(say([event.round, ctx.short_term_memory.get("sum")]))

    result = run(act, counts=Counts())

    assert result.values == [[3000, 4_501_500]] and len(result.calls) == 3000
