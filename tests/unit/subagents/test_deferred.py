"""Deferred sub-agents: what they hand to the engine, and what their implementation meets."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from flink_agents_subagent.context import CallSpec, RetryPolicy
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError, StoreError
from flink_agents_subagent.subagents import BaseDeferredSubagentSetup, SubagentFuture, SubagentRequest, SubagentResult
from tests.unit.subagents.fakes import FakeContext


class Blocking(BaseDeferredSubagentSetup):
    """Calls a function of the test."""

    def __init__(
        self, function: Callable[[SubagentRequest], Any] = lambda request: request.prompt, **described: Any
    ) -> None:
        super().__init__(**described)
        self.function = function

    def call(self, request: SubagentRequest) -> Any:
        """Call it."""
        return self.function(request)


class Reconciling(Blocking):
    """Knows what became of an earlier call."""

    def reconcile(self, request: SubagentRequest) -> Any:
        """Return what the prompt says."""
        return request.prompt["reconciled"]


class Coroutine(BaseDeferredSubagentSetup):
    """Calls later."""

    async def call(self, request: SubagentRequest) -> Any:
        """Answer with the call id."""
        await asyncio.sleep(0)
        return request.call_id

    async def reconcile(self, request: SubagentRequest) -> Any:
        """Never started."""
        return None


def submit(
    setup: BaseDeferredSubagentSetup, prompt: Any = "p", **arguments: Any
) -> tuple[FakeContext, SubagentFuture, CallSpec]:
    """Submit to a registered setup."""
    setup.bind_name("helper")

    async def act() -> tuple[FakeContext, SubagentFuture]:
        ctx = FakeContext()
        return ctx, setup.submit(ctx, prompt, **arguments)  # type: ignore[arg-type]  # a fake

    ctx, future = asyncio.run(act())
    return ctx, future, ctx.specs[0]


def test_submit_describes_the_call_to_the_engine() -> None:
    """The slot is named by the call id, carries the fingerprint of name and prompt, and starts at the await [D4, M1, I4]."""
    ctx, future, spec = submit(Blocking(), {"a": 1}, session_id="talk")

    assert ctx.asked == [("helper", "talk")]
    assert (future.session_id, future.call_id, spec.function_id) == ("talk", "talk-1", "talk-1")
    assert spec.fingerprint == b"('helper', {'a': 1})"
    assert (spec.starts_at_await, spec.is_coroutine, spec.label, spec.timeout_ms) == (True, False, "helper", None)
    assert spec.must_be_awaited is not None
    line = inspect.getsourcelines(submit)[1]
    place = re.fullmatch(r"sub-agent 'helper', submitted at (.*):(\d+)", spec.must_be_awaited)
    assert place is not None
    assert place[1] == __file__
    assert line < int(place[2]) < line + 12


def test_the_request_holds_the_prompt_as_it_was() -> None:
    """A prompt that changes between submit and await is sent as it was submitted, and the ids with it [M1, D3]."""
    prompt = {"items": [1]}
    seen: list[SubagentRequest] = []
    _, future, spec = submit(Blocking(seen.append), prompt)
    prompt["items"].append(2)

    spec.func()

    assert seen[0].prompt == {"items": [1]}
    assert (seen[0].session_id, seen[0].call_id) == (future.session_id, future.call_id)
    assert (seen[0].attempt, seen[0].deadline) == (1, None)
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", seen[0].trace_parent)


def test_attempts_and_deadlines_are_those_of_the_call() -> None:
    """Each attempt is counted, and has a deadline of its own when there is a timeout [M1, M6]."""
    seen: list[SubagentRequest] = []
    _, _, spec = submit(Blocking(seen.append), timeout=timedelta(seconds=60))
    before = datetime.now(timezone.utc)

    spec.func()
    spec.func()

    assert [request.attempt for request in seen] == [1, 2]
    assert seen[0].deadline is not None
    assert timedelta(seconds=60) <= seen[0].deadline - before < timedelta(seconds=120)


@pytest.mark.parametrize(("answer", "expected"), [(3, SubagentResult.ok(3)), (None, SubagentResult.ok(None))])
def test_a_plain_answer_is_a_success(answer: Any, expected: SubagentResult) -> None:
    """An implementation may return the bare value [V1]."""
    assert submit(Blocking(lambda request: answer))[2].func() == expected


def test_a_result_of_the_implementation_is_kept() -> None:
    """An implementation that reports a failure itself is believed [V1]."""
    failed = SubagentResult.error("no funds")

    assert submit(Blocking(lambda request: failed))[2].func() is failed


def test_coroutine_implementations_are_coroutine_functions() -> None:
    """The engine runs them on the background loop, and sees so by the function [M]."""
    _, future, spec = submit(Coroutine())

    assert spec.is_coroutine
    assert inspect.iscoroutinefunction(spec.func)
    assert asyncio.run(spec.func()) == SubagentResult.ok(future.call_id)
    assert spec.reconciler is not None
    assert inspect.iscoroutinefunction(spec.reconciler)
    assert asyncio.run(spec.reconciler()) == SubagentResult.ok(future.call_id)


@pytest.mark.logs_warning
def test_an_escaping_exception_becomes_a_failed_result(caplog: pytest.LogCaptureFixture) -> None:
    """Type and message are kept, the traceback is logged once [V1, V2, M5]."""
    spec = submit(Blocking())[2]
    assert spec.on_error is not None

    result = spec.on_error(ValueError("no"))

    assert result == SubagentResult.error(ValueError("no"))
    assert [record.exc_info is not None for record in caplog.records] == [True]


@pytest.mark.parametrize("error", [StoreError("full"), asyncio.CancelledError(), SystemExit(1), KeyboardInterrupt()])
def test_what_is_not_the_sub_agents_goes_on(error: BaseException) -> None:
    """Engine errors, cancellation and the end of the process are never results [M5, E3.7]."""
    spec = submit(Blocking())[2]
    assert spec.on_error is not None

    with pytest.raises(type(error)):
        spec.on_error(error)


def test_a_timeout_is_a_failed_result() -> None:
    """The reason says timeout, the message how long [M6]."""
    spec = submit(Blocking(timeout=1.5))[2]
    assert spec.on_timeout is not None

    assert spec.timeout_ms == 1500
    assert spec.on_timeout() == SubagentResult.error("sub-agent 'helper' did not answer within 1500 ms", "timeout")
    assert submit(Blocking(timeout=1.5), timeout=2)[2].timeout_ms == 2000


@pytest.mark.parametrize("timeout", [0, -1, timedelta(0), float("nan"), "3", True])
def test_a_timeout_is_positive(timeout: Any) -> None:
    """Zero does not mean for ever, and a text is no number [M6]."""
    with pytest.raises(ContextMisuseError, match="timeout of a sub-agent call is"):
        submit(Blocking(), timeout=timeout)
    with pytest.raises(DefinitionError, match="Blocking cannot be used: the timeout of a sub-agent call is"):
        Blocking(timeout=timeout)


def test_what_is_no_retry_policy_is_refused() -> None:
    """A number of attempts is not one [R2]."""
    with pytest.raises(DefinitionError, match="retry of Blocking is 3; give a RetryPolicy"):
        Blocking(retry=3)  # type: ignore[arg-type]


def test_reconciling_decides_about_the_call() -> None:
    """Its answer is the outcome; None means that the call never started, and makes it [E3.6, M]."""
    calls: list[str] = []
    known = submit(Reconciling(), {"reconciled": "earlier"})[2].reconciler
    unknown = submit(Reconciling(lambda request: calls.append(request.call_id)), {"reconciled": None})[2].reconciler
    assert known is not None
    assert unknown is not None

    assert known() == SubagentResult.ok("earlier")
    assert unknown() == SubagentResult.ok(None)
    assert calls == ["session-1-1"]
    assert submit(Blocking())[2].reconciler is None


def test_call_and_reconcile_are_of_one_kind() -> None:
    """One that blocks and one that does not cannot run in one place."""
    with pytest.raises(
        DefinitionError, match="Mixed has async def call and def reconcile; make both async, or neither"
    ):

        class Mixed(Coroutine):
            def reconcile(self, request: SubagentRequest) -> Any:  # type: ignore[override]  # the mistake
                return None


def test_retries_are_the_engines() -> None:
    """The policy is handed over, so that the budget survives a failover [E3.9]."""
    policy = RetryPolicy(max_attempts=5)

    assert submit(Blocking(retry=policy))[2].retry is policy


def test_an_own_call_id_replaces_the_derived_one() -> None:
    """An implementor may bring an identity of its own [D3]."""
    _, future, spec = submit(Blocking(), call_id="mine")

    assert (future.call_id, spec.function_id) == ("mine", "mine")


def test_an_unregistered_setup_cannot_be_submitted_to() -> None:
    """The name is part of the identity, so that an instance without one is refused [D1]."""
    with pytest.raises(ContextMisuseError, match="this Blocking is not registered as a resource"):
        Blocking().submit(FakeContext(), "p")  # type: ignore[arg-type]  # a fake


@pytest.mark.parametrize(
    ("described", "says"),
    [
        ({"description": " "}, "Blocking has the description ' '"),
        ({"input_schema": ""}, "input schema of Blocking is no JSON"),
        ({"input_schema": "[1]"}, r"input schema of Blocking is '\[1\]'; give a JSON schema as an object"),
        ({"input_schema": {}}, "not empty"),
    ],
)
def test_blank_descriptions_are_refused(described: dict[str, Any], says: str) -> None:
    """A blank text or schema is a mistake where it stands [R2, T13]."""
    with pytest.raises(DefinitionError, match=says):
        Blocking(**described)


def test_class_attributes_describe_too() -> None:
    """A subclass may say everything in its body, without a constructor [T4]."""

    class Described(Coroutine):
        description = "helps"
        timeout = 3.0

    setup = Described(result_type=int)

    assert (setup.description, setup.timeout, setup.result_type, setup.CALLABLE_NAME_PREFIX) == (
        "helps",
        3.0,
        int,
        "subagent_",
    )
