"""Limits of sub-agents on the real engine: refusals as data, many waiting runs, lanes of both modes."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceType,
    RunnerContext,
    SubagentFutures,
    SubagentRequest,
    UnawaitedHandleError,
)
from flink_agents_subagent.testing import LocalResult, LocalRunner
from tests.unit.subagents.remote import Jobs, Remote


class Slow(BaseDeferredSubagentSetup):
    """Takes a tenth of a second, and knows how many were asked at a time."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.running = self.most = 0

    async def call(self, request: SubagentRequest) -> int:
        """Answer."""
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.1)
        self.running -= 1
        return int(request.prompt)


def run(setup: Any, function: Any, inputs: int = 1, **options: Any) -> LocalResult:
    """Run an action that may use the sub-agent `x`, each input of a key of its own."""
    agent = Agent("caller").add_action("act", InputEvent, function).add_resource("x", ResourceType.AGENT, setup)
    return LocalRunner(agent, options=options).run([(f"k{number}", number) for number in range(inputs)])


@pytest.mark.parametrize("setup", [Slow, Jobs])
@pytest.mark.parametrize(
    ("options", "limit", "message"),
    [
        ({"subagent.max-calls-per-run": 2}, None, "subagent.max-calls-per-run = 2"),
        ({}, 2, "max_calls_per_run = 2 calls of sub-agent 'x'"),
        ({"subagent.max-depth": 0}, None, "nested deeper than subagent.max-depth = 0: x"),
    ],
)
def test_a_call_beyond_a_limit_is_a_failed_result(
    setup: Any, options: dict[str, Any], limit: int | None, message: str
) -> None:
    """It is not made; its handle is done, and says which limit it was; the next input has a count of its own [G1, G2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        x = ctx.get_resource("x", ResourceType.AGENT)
        handles = [x.submit(ctx, 1) for _ in range(3)]
        refused = handles[-1]
        assert refused.done() and not refused.cancel() and refused.call_id
        results = await SubagentFutures(*handles).await_all()
        ctx.send_event(OutputEvent(output=[(result.reason, result.error_message) for result in results]))

    result = run(setup(max_calls_per_run=limit), act, inputs=2, **options)

    for value in result.values:
        made = 0 if "subagent.max-depth" in options else 2
        assert [reason for reason, _ in value] == [None] * made + ["limit"] * (3 - made)
        assert message in value[-1][1]


def test_delegation_can_ask_how_deep_a_call_may_still_nest() -> None:
    """At the root it is the whole limit; a model is not offered what would be refused [G1, T16]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=ctx._subagent_depth_left()))

    assert run(Slow(), act).values == [8]
    assert run(Slow(), act, **{"subagent.max-depth": 0}).values == [0]


def test_a_refused_handle_has_to_be_looked_at_too() -> None:
    """It would otherwise go unseen that a call was not made [I4, G2]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.get_resource("x", ResourceType.AGENT).submit(ctx, 1)

    with pytest.raises(UnawaitedHandleError, match="sub-agent 'x', submitted at"):
        run(Slow(), act, **{"subagent.max-depth": 0})


@pytest.mark.parametrize(("limit", "seconds"), [(100, 0.1), (10, 1.0), (None, 0.1)])
def test_await_all_runs_as_many_at_once_as_the_setup_allows(limit: int | None, seconds: float) -> None:
    """A hundred calls of 100 ms take as long as the line makes them; results keep their order [I3, M8]."""
    setup = Slow(max_concurrency=limit)

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        begun = ctx.now()
        handles = [ctx.get_resource("x", ResourceType.AGENT).submit(ctx, number) for number in range(100)]
        results = await SubagentFutures(*handles).await_all()
        assert [result.result for result in results] == list(range(100))
        ctx.send_event(OutputEvent(output=(ctx.now() - begun).total_seconds()))

    assert run(setup, act).values == [seconds]
    assert setup.most == (limit or 100)


def test_a_line_is_one_for_all_runs_and_a_run_of_a_service_keeps_its_place() -> None:
    """Two runs at a time, from the submit to the fetch, over five keys [M8]."""
    jobs = Jobs(max_concurrency=2)
    open_runs: list[int] = []

    class Watched(Remote):
        def submit(self, request: SubagentRequest) -> str:
            answer = super().submit(request)
            open_runs.append(sum(not run.state.is_terminal for run in self.runs.values()))
            return answer

    jobs.remote = Watched()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=(await ctx.get_resource("x", ResourceType.AGENT).submit(ctx, 2)).result))

    result = run(jobs, act, inputs=5)

    assert len(result.values) == 5 and max(open_runs) == 2


def test_many_runs_wait_without_threads_and_without_records() -> None:
    """Each costs a timer: the threads of the process stay as they are, and so does the journal [M3]."""
    waiting = 500
    before = threading.active_count()
    jobs = Jobs()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        result = await ctx.get_resource("x", ResourceType.AGENT).submit(ctx, 5)
        ctx.send_event(OutputEvent(output=(result.is_success, threading.active_count())))

    result = run(jobs, act, inputs=waiting)

    assert result.values == [(True, before)] * waiting
    assert result.metrics["journal_records"] == 3 * waiting
    assert result.metrics["calls_repeated"] == 4 * waiting


def test_a_client_that_open_makes_lives_on_the_loop_of_the_calls() -> None:
    """`open`, the calls and `close` of an asynchronous setup run on one loop, the last in reverse order [R3]."""
    loops: list[tuple[str, Any]] = []

    class Connected(Jobs):
        async def open(self) -> None:  # type: ignore[override]  # both kinds are allowed
            loops.append((f"open {self.name}", asyncio.get_running_loop()))

        async def call_submit_request(self, request: SubagentRequest) -> Any:
            loops.append((f"call {self.name}", asyncio.get_running_loop()))
            return await super().call_submit_request(request)

        async def close(self) -> None:  # type: ignore[override]  # as above
            loops.append((f"close {self.name}", asyncio.get_running_loop()))

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.get_resource("x", ResourceType.AGENT).submit(ctx, 1)

    agent = Agent("caller").add_action("act", InputEvent, act)
    for name in ("x", "y"):
        agent.add_resource(name, ResourceType.AGENT, Connected())
    LocalRunner(agent).run([("k", 1)])

    assert [what for what, _ in loops] == ["open x", "open y", "call x", "close y", "close x"]
    assert len({id(loop) for _, loop in loops}) == 1
