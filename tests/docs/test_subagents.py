"""What docs/subagents.md says, beyond its examples."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import (
    ActionError,
    Agent,
    BaseDeferredSubagentSetup,
    ContextMisuseError,
    DefinitionError,
    EncodingError,
    InputEvent,
    NotExpressibleError,
    OutputEvent,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    SubagentError,
    SubagentFutures,
    SubagentRequest,
    SubagentResult,
    UnawaitedHandleError,
)
from flink_agents_subagent.testing import LocalResult, LocalRunner


class Answer(BaseModel):
    text: str


class Helper(BaseDeferredSubagentSetup):
    """Does what its prompt says, and keeps the requests."""

    def __init__(self, **described: Any) -> None:
        super().__init__(**described)
        self.requests: list[SubagentRequest] = []

    async def call(self, request: SubagentRequest) -> Any:
        """Answer."""
        self.requests.append(request)
        verb, argument = request.prompt
        if verb == "wait":
            await asyncio.sleep(argument)
        if verb == "fail":
            raise ValueError(argument)
        if verb == "refuse":
            return SubagentResult.error(argument, "limit")
        return object() if verb == "strange" else [{"text": str(argument)}]


def run(function: Any, helper: Helper, *inputs: Any) -> LocalResult:
    """Run an action that may use the helper."""
    agent = Agent("sample").add_action("act", InputEvent, function).add_resource("helper", ResourceType.AGENT, helper)
    return LocalRunner(agent).run([("ada", value) for value in inputs or (1,)])


def of(ctx: RunnerContext) -> Helper:
    """Return the helper."""
    helper: Helper = ctx.get_resource("helper", ResourceType.AGENT)
    return helper


def send(ctx: RunnerContext, value: object) -> None:
    """Send an output."""
    ctx.send_event(OutputEvent(output=value))


def test_nothing_is_sent_before_the_first_await() -> None:
    """A handle that waits, is cancelled, or is given up sends nothing; the prompt is that of the submit [I1, I6]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        prompt = ["wait", 1]
        awaited, cancelled = of(ctx).submit(ctx, prompt), of(ctx).submit(ctx, ("wait", 2))
        prompt[1] = 99
        assert cancelled.cancel() and not cancelled.cancel()
        await asyncio.sleep(10)
        assert of(ctx).requests == []
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert await awaited is not await asyncio.gather(awaited) and awaited.done()

    helper = Helper()
    run(act, helper)

    assert [request.prompt for request in helper.requests] == [["wait", 1]]


def test_a_forgotten_handle_names_its_line() -> None:
    """The job fails with the sub-agent and the place of the submit [I4]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        of(ctx).submit(ctx, ("wait", 1))

    with pytest.raises(
        UnawaitedHandleError, match=rf"sub-agent 'helper', submitted at .*{Path(__file__).name}:\d+; await it, or"
    ):
        run(act, Helper())


def test_submit_needs_an_async_action_and_a_recordable_prompt() -> None:
    """Both mistakes are raised by `submit` itself [I5, I1]."""

    def blocking(event: InputEvent, ctx: RunnerContext) -> None:
        of(ctx).submit(ctx, ("wait", 1))

    async def strange(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(NotExpressibleError, match="object"):
            of(ctx).submit(ctx, ("wait", object()))
        send(ctx, "refused")

    with pytest.raises(ActionError, match="declare the action async def") as caught:
        run(blocking, Helper())
    assert isinstance(caught.value.__cause__, ContextMisuseError)
    assert run(strange, Helper()).values == ["refused"]


@pytest.mark.logs_warning
def test_failures_are_data() -> None:
    """An exception, a timeout and a refusal are failed results with a reason; the text is capped [V1, V2, V4, M5, M6]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        prompts = [("fail", "x" * 9000), ("wait", 3600), ("refuse", "too many")]
        handles = [of(ctx).submit(ctx, prompt, timeout=60) for prompt in prompts]
        failed, late, refused = await SubagentFutures(*handles).await_all()
        assert [result.reason for result in (failed, late, refused)] == ["error", "timeout", "limit"]
        assert failed.error_message.startswith("ValueError: xxx") and len(failed.error_message.encode()) == 4096
        with pytest.raises(SubagentError, match="too many"):
            refused.get_result()

    helper = Helper()
    run(act, helper)

    assert all(request.deadline is not None for request in helper.requests)


def test_a_result_that_cannot_be_recorded_fails_the_job() -> None:
    """It is no failure of the sub-agent's that a caller could go on with [E3.5, E3.7]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await of(ctx).submit(ctx, ("strange", 0))

    with pytest.raises(EncodingError, match="object"):
        run(act, Helper())


@pytest.mark.logs_warning
def test_retries_come_before_the_failed_result() -> None:
    """Every attempt carries the same call id [D3, E3.9, M1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        send(ctx, (await of(ctx).submit(ctx, ("fail", "no"))).error_message)

    helper = Helper(retry=RetryPolicy(max_attempts=3))

    assert run(act, helper).values == ["ValueError: no"]
    assert [request.attempt for request in helper.requests] == [1, 2, 3]
    assert len({request.call_id for request in helper.requests}) == 1


def test_groups_run_concurrently_and_give_up_nothing() -> None:
    """`await_any` returns the handle that is done first, the others go on; `await_all` keeps the order [I2, I3]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        started = ctx.now()
        slow, fast = of(ctx).submit(ctx, ("wait", 60)), of(ctx).submit(ctx, ("wait", 20))
        group = slow.combine(fast)
        assert await group.await_any() is fast and fast.done() and not group.done()
        results = await group.await_all()
        send(ctx, ([result.result for result in results], (ctx.now() - started).total_seconds()))

    assert run(act, Helper()).values == [([[{"text": "60"}], [{"text": "20"}]], 60.0)]


def test_a_result_is_narrowed_to_a_type() -> None:
    """What was journalled as plain data becomes the wanted model, or names where it does not fit [V3]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        result = await of(ctx).submit(ctx, ("say", "yes"))
        assert result.get_result(list[Answer]) == [Answer(text="yes")]
        assert result.get_result(list[Answer] | int) == [Answer(text="yes")]
        with pytest.raises(NotExpressibleError, match=r"result\[0\]"):
            result.get_result(list[int])
        send(ctx, "narrowed")

    assert run(act, Helper()).values == ["narrowed"]


def test_ids_never_collide() -> None:
    """Sessions are new unless one is continued; call ids differ in any case, and make a trace of each session [D1, D2, M1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        for session in (None, None, "shared", "shared"):
            await of(ctx).submit(ctx, ("say", "hi"), session_id=session)

    helper = Helper()
    run(act, helper, 1, 1)
    sessions = [request.session_id for request in helper.requests]
    traces = {request.trace_parent.split("-")[1] for request in helper.requests}

    assert len({request.call_id for request in helper.requests}) == 8
    assert sessions.count("shared") == 4 and len(set(sessions)) == 5 and len(traces) == 5
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", request.trace_parent) for request in helper.requests)


def test_what_cannot_be_a_sub_agent_is_refused() -> None:
    """Blank descriptions, half-asynchronous setups and agents that no input starts are mistakes of the declaration [R2]."""
    with pytest.raises(DefinitionError, match="not blank"):
        Helper(description=" ")
    with pytest.raises(DefinitionError, match="make both async, or neither"):
        type("Half", (Helper,), {"reconcile": lambda self, request: None})
    agent = Agent("sample").add_action("act", InputEvent, lambda event, ctx: None)
    with pytest.raises(DefinitionError, match="agent 'child' has no action for InputEvent"):
        LocalRunner(agent.add_resource("child", ResourceType.AGENT, Agent("child")))
