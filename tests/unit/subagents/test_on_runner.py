"""Deferred sub-agents on the real engine: sequence, failures, handles left open, crashes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from flink_agents_subagent import (
    Agent,
    BaseDeferredSubagentSetup,
    ContextMisuseError,
    InputEvent,
    NotExpressibleError,
    OutputEvent,
    ResourceType,
    RunnerContext,
    SubagentFutures,
    SubagentRequest,
    SubagentResult,
    UnawaitedHandleError,
)
from flink_agents_subagent.testing import LocalResult, LocalRunner, simulate_crashes

Body = Callable[[RunnerContext, BaseDeferredSubagentSetup], Coroutine[Any, Any, Any]]


class Helper(BaseDeferredSubagentSetup):
    """Answers after as many seconds as the prompt says; negative ones fail."""

    def __init__(self) -> None:
        super().__init__(description="helps")
        self.requests: list[SubagentRequest] = []

    async def call(self, request: SubagentRequest) -> str:
        """Answer."""
        self.requests.append(request)
        await asyncio.sleep(abs(request.prompt))
        if request.prompt < 0:
            raise ValueError("negative")
        return f"waited {request.prompt}"


class Reconciled(Helper):
    """Remembers by call id what it answered, as a remote service with idempotency keys does."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, str] = {}

    async def call(self, request: SubagentRequest) -> str:
        """Answer, and remember."""
        self.answers[request.call_id] = await super().call(request)
        return self.answers[request.call_id]

    async def reconcile(self, request: SubagentRequest) -> SubagentResult | None:
        """Look it up."""
        known = self.answers.get(request.call_id)
        return None if known is None else SubagentResult.ok(known)


def agent_of(body: Body, helper: Helper) -> Agent:
    """Return an agent that emits what the body returns."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await body(ctx, ctx.get_resource("helper", ResourceType.AGENT))))

    return Agent("caller").add_action("act", InputEvent, act).add_resource("helper", ResourceType.AGENT, helper)


def run(body: Body, helper: Helper | None = None, inputs: int = 1) -> LocalResult:
    """Run the body once per input, all of one key."""
    return LocalRunner(agent_of(body, helper or Helper())).run([("k", number) for number in range(inputs)])


def test_a_call_starts_when_its_handle_is_awaited() -> None:
    """Nothing is sent before, and a second await returns the same result [M, I2]."""
    helper = Helper()

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1)
        await asyncio.sleep(5)
        sent_before = len(helper.requests)
        first, second = await handle, await handle
        return [sent_before, first == second, first.result, handle.done()]

    assert run(body, helper).values == [[0, True, "waited 1", True]]


def test_a_group_runs_at_the_same_time() -> None:
    """Three calls of 3, 1 and 2 seconds take 3 of them; the first to answer is found by `await_any` [I3]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        start = ctx.now()
        handles = SubagentFutures(*[setup.submit(ctx, seconds) for seconds in (3, 1, 2)])
        first = await handles.await_any()
        results = await handles.await_all()
        return [(await first).result, [result.result for result in results], (ctx.now() - start).total_seconds()]

    assert run(body).values == [["waited 1", ["waited 3", "waited 1", "waited 2"], 3.0]]


@pytest.mark.logs_warning
def test_a_failure_is_data() -> None:
    """An exception of the sub-agent and a time-out are failed results, and the action goes on [V1, M5, M6]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        failed, late = await setup.submit(ctx, -1), await setup.submit(ctx, 10, timeout=2)
        return [failed.error_message, failed.reason, late.error_message, late.reason]

    assert run(body).values == [
        ["ValueError: negative", "error", "sub-agent 'helper' did not answer within 2000 ms", "timeout"]
    ]


def test_cancelling_before_the_await_sends_nothing() -> None:
    """A cancelled handle raises when it is awaited, and a second cancel does nothing [I6, E3.11]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        handle = setup.submit(ctx, 1)
        cancelled = [handle.cancel(), handle.cancel()]
        try:
            await handle
        except asyncio.CancelledError:
            return cancelled
        return None

    result = run(body)

    assert (result.values, result.calls) == ([[True, False]], [])


def test_an_open_handle_is_an_error_that_names_its_submit() -> None:
    """A handle that was neither awaited nor cancelled fails the job, with sub-agent and source line [I4]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        setup.submit(ctx, 1)

    with pytest.raises(UnawaitedHandleError, match=r"sub-agent 'helper', submitted at .*test_on_runner\.py:\d+"):
        run(body)


def test_a_plain_action_cannot_submit() -> None:
    """A `def` action could never await the handle, so that `submit` says what to change [I5, E2.6]."""
    messages: list[str] = []

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        try:
            ctx.get_resource("helper", ResourceType.AGENT).submit(ctx, 1)
        except ContextMisuseError as error:
            messages.append(str(error))

    agent = Agent("caller").add_action("act", InputEvent, act).add_resource("helper", ResourceType.AGENT, Helper())

    LocalRunner(agent).run([("k", 1)])

    assert re.search("async def", messages[0])


def test_a_prompt_that_cannot_be_encoded_is_refused() -> None:
    """The error carries the path, and nothing was submitted [I1]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        try:
            setup.submit(ctx, {"a": [1, object()]})
        except NotExpressibleError as error:
            return str(error)
        return None

    (message,) = run(body).values

    assert "object" in message


def test_sessions_and_call_ids_never_collide() -> None:
    """New sessions differ between calls, inputs and actions; a session of the caller's own keeps its id [D1, D2, E5.3]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        fresh = [setup.submit(ctx, 0), setup.submit(ctx, 0)]
        talk = [setup.submit(ctx, 0, session_id="talk"), setup.submit(ctx, 0, session_id="talk")]
        await SubagentFutures(*fresh, *talk).await_all()
        return [[handle.session_id, handle.call_id] for handle in (*fresh, *talk)]

    ids = [pair for value in run(body, inputs=2).values for pair in value]

    assert [pair[0] for pair in ids if pair[0] == "talk"] == ["talk"] * 4
    assert len({pair[0] for pair in ids}) == 5
    assert len({pair[1] for pair in ids}) == 8


@pytest.mark.parametrize("helper", [Helper, Reconciled])
def test_no_crash_shows(helper: type[Helper]) -> None:
    """Killed at every point, with and without a reconciler, results and outputs are the same [E8.2, E3.6, M]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        handles = SubagentFutures(setup.submit(ctx, 2), setup.submit(ctx, 1))
        first = await handles.await_any()
        more = await setup.submit(ctx, 1, session_id=first.session_id)
        return [(await first).result, more.result, len(await handles.await_all())]

    simulate_crashes(agent_of(body, helper()), [("a", 1), ("b", 2), ("a", 3)], seeds=10)


def test_the_rest_of_a_race_is_cancelled_with_its_action() -> None:
    """Handles that lost `await_any` and were left are stopped when the action ends, and are no error [I3, I4]."""

    async def body(ctx: RunnerContext, setup: BaseDeferredSubagentSetup) -> Any:
        first = await SubagentFutures(setup.submit(ctx, 100), setup.submit(ctx, 1)).await_any()
        return (await first).result

    result = run(body)

    assert result.values == ["waited 1"]
    assert [call.is_cancelled for call in result.calls] == [True, False]
    simulate_crashes(agent_of(body, Helper()), [("a", 1)], seeds=5)
