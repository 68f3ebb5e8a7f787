"""Sub-agents in Java, as seen from Python: what their answers become, without any Java."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent.context import CallSpec, RetryPolicy
from flink_agents_subagent.errors import BridgeError, DefinitionError, DurableCallError, NotExpressibleError
from flink_agents_subagent.subagents import JavaSubagent, RunState, RunStatus, SubagentRequest, SubagentResult
from flink_agents_subagent.subagents.java import JavaAnswer, JavaMode, JavaPort
from tests.unit.subagents.fakes import FakeContext

REQUEST = SubagentRequest("p", "s", "c")


class FakePort(JavaPort):
    """Answers as told."""

    def __init__(self, mode: JavaMode, **answers: JavaAnswer) -> None:
        self.mode = mode
        self.answers = answers
        self.told: list[Any] = []

    def open(self, resource: str, class_name: str, args: Mapping[str, Any]) -> JavaMode:
        """Remember."""
        self.told.append(("open", resource, class_name, args))
        return self.mode

    async def perform(self, resource: str, operation: str, request: SubagentRequest) -> JavaAnswer:
        """Answer."""
        self.told.append((operation, resource, request.call_id))
        return self.answers[operation]

    def close(self, resource: str) -> None:
        """Remember."""
        self.told.append(("close", resource))


def opened(port: FakePort, **arguments: Any) -> JavaSubagent:
    """Return an open sub-agent."""
    setup = JavaSubagent("com.acme.Pricer", **arguments)
    setup.bind_name("pricer")
    setup.attach(port)
    setup.open()
    return setup


def submit(setup: JavaSubagent, prompt: Any = "p") -> CallSpec:
    """Submit and return what the engine is told."""

    async def act() -> CallSpec:
        ctx = FakeContext()
        setup.submit(ctx, prompt, session_id="talk")  # type: ignore[arg-type]  # a fake
        return ctx.specs[0]

    return asyncio.run(act())


def run(spec: CallSpec) -> Any:
    """Make the call."""
    return asyncio.run(spec.func())


DEFERRED, RECONCILING = JavaMode(is_async=False, reconciles=False), JavaMode(is_async=False, reconciles=True)
OK = {"result": {"ok": True, "value": {"price": 2}}}
RAISED = {"raised": {"type": "java.lang.IllegalStateException", "message": "no quote"}}


def test_a_deferred_class_is_a_deferred_subagent() -> None:
    """Submitting describes the same call as for a Python sub-agent, which asks Java and nobody else [B2, D4, I4]."""
    port = FakePort(DEFERRED, call=OK)
    setup = opened(port, args={"url": "u"}, timeout=5, retry=RetryPolicy(max_attempts=2))

    spec = submit(setup)

    assert (spec.function_id, spec.label, spec.timeout_ms, spec.is_coroutine) == ("talk-1", "pricer", 5000, True)
    assert spec.starts_at_await
    assert spec.reconciler is None
    assert spec.retry == RetryPolicy(max_attempts=2)
    assert spec.must_be_awaited is not None
    assert re.fullmatch(rf"sub-agent 'pricer', submitted at {re.escape(__file__)}:\d+", spec.must_be_awaited)
    assert run(spec) == SubagentResult.ok({"price": 2})
    assert port.told == [("open", "pricer", "com.acme.Pricer", {"url": "u"}), ("call", "pricer", "talk-1")]


def test_a_failed_result_stays_one() -> None:
    """Message and reason are those that Java gave [B5, V1]."""
    port = FakePort(DEFERRED, call={"result": {"ok": False, "error": "too many", "reason": "limit"}})

    assert run(submit(opened(port))) == SubagentResult.error("too many", "limit")


@pytest.mark.logs_warning
def test_a_java_exception_becomes_a_failed_result() -> None:
    """It is raised first, so that retries see it; what is left of it names the Java class [B5, M5, V2]."""
    spec = submit(opened(FakePort(DEFERRED, call=RAISED)))

    with pytest.raises(DurableCallError, match="no quote") as caught:
        run(spec)
    assert spec.on_error is not None
    assert spec.on_error(caught.value) == SubagentResult.error("java.lang.IllegalStateException: no quote")


def test_a_reconciling_class_is_asked_first() -> None:
    """Its answer is the outcome; none means that the call is made [B1, E3.6]."""
    port = FakePort(RECONCILING, reconcile={"done": True}, call=OK)
    spec = submit(opened(port))
    assert spec.reconciler is not None

    assert asyncio.run(spec.reconciler()) == SubagentResult.ok({"price": 2})
    assert [told[0] for told in port.told] == ["open", "reconcile", "call"]
    port.answers["reconcile"] = {"result": {"ok": True, "value": 1}}
    assert asyncio.run(spec.reconciler()) == SubagentResult.ok(1)


def test_a_prompt_that_json_cannot_express_is_refused_by_submit() -> None:
    """The path tells where; a model is rendered, and what is submitted is a copy [B4, T9, I1]."""
    setup = opened(FakePort(DEFERRED))

    with pytest.raises(NotExpressibleError, match=r"^prompt\.a\[0\] is of type object") as caught:
        submit(setup, {"a": [object()]})
    assert caught.value.path == "prompt.a[0]"


def test_arguments_are_checked_when_they_are_given() -> None:
    """Blank class, args beyond JSON, unknown and misplaced arguments name themselves [R2, B5]."""
    with pytest.raises(DefinitionError, match="give its full name"):
        JavaSubagent(" ")
    with pytest.raises(NotExpressibleError, match=r"^args\.a is NaN"):
        JavaSubagent("com.acme.Pricer", args={"a": float("nan")})
    with pytest.raises(TypeError, match=r"^JavaSubagent takes no argument 'tiemout'"):
        JavaSubagent("com.acme.Pricer", tiemout=3)  # type: ignore[call-arg]  # the mistake
    with pytest.raises(DefinitionError, match="max_concurrency of JavaSubagent is 0"):
        JavaSubagent("com.acme.Pricer", max_concurrency=0)
    with pytest.raises(DefinitionError, match="not blank"):
        JavaSubagent("com.acme.Pricer", description=" ")
    with pytest.raises(DefinitionError, match=r"is a DeferredSubagent, which has no status_poll_interval"):
        opened(FakePort(DEFERRED), status_poll_interval=1)


def test_without_java_the_remedy_is_named() -> None:
    """Outside of Flink opening says so, and how to test all the same; closing is harmless [B5]."""
    setup = JavaSubagent("com.acme.Pricer")
    setup.bind_name("pricer")

    with pytest.raises(
        DefinitionError, match=r"com\.acme\.Pricer.* no Java here.*with_stand_ins\(agent, \{'pricer': \.\.\.\}\)"
    ):
        setup.open()
    setup.close()


def asynchronous(**answers: JavaAnswer) -> Any:
    """Return the setup that an asynchronous class becomes."""
    return opened(FakePort(JavaMode(is_async=True, reconciles=True), **answers))._opened


STATUS = {"state": "RUNNING", "reason": "job", "retry_after_ms": 2000, "run": "job 1"}


def test_an_asynchronous_class_speaks_the_protocol() -> None:
    """Each request is answered by the Java method of its name [B1, B2, M2]."""
    setup = asynchronous(
        submit={"run": ["job", 1]},
        status={"status": STATUS},
        reconcile={"status": STATUS},
        fetch=OK,
        cancel={"done": True},
    )
    status = RunStatus(RunState.RUNNING, "job", retry_after=timedelta(seconds=2), run="job 1")

    assert asyncio.run(setup.call_submit_request(REQUEST)) == ["job", 1]
    assert asyncio.run(setup.call_query_status(REQUEST)) == status
    assert asyncio.run(setup.reconcile_submit_request(REQUEST)) == status
    assert asyncio.run(setup.call_fetch_result(REQUEST)) == SubagentResult.ok({"price": 2})
    assert asyncio.run(setup.call_cancel_request(REQUEST)) is None


def test_a_submit_may_be_the_outcome() -> None:
    """A service that answers at once, or refuses, has no run [M4]."""
    setup = asynchronous(submit={"result": {"ok": False, "error": "no", "reason": "error"}})

    assert asyncio.run(setup.call_submit_request(REQUEST)) == SubagentResult.error("no")


@pytest.mark.parametrize(
    ("method", "operation"),
    [
        ("call_query_status", "status"),
        ("call_fetch_result", "fetch"),
        ("reconcile_submit_request", "reconcile"),
    ],
)
def test_an_exception_that_escapes_from_status_or_fetch_is_a_bridge_error(method: str, operation: str) -> None:
    """It names sub-agent, call, Java class and message, and is never a result [B5, M4]."""
    setup = asynchronous(**{operation: RAISED})

    with pytest.raises(BridgeError, match=rf"'pricer' failed in {operation} of call c: java.*Exception: no quote"):
        asyncio.run(getattr(setup, method)(REQUEST))


@pytest.mark.parametrize(
    ("method", "operation"), [("call_submit_request", "submit"), ("call_cancel_request", "cancel")]
)
def test_an_exception_of_submit_or_cancel_is_its_own(method: str, operation: str) -> None:
    """It stands for the Java exception, and is raised or repeated as any other [M5, M7]."""
    with pytest.raises(DurableCallError, match=r"java\.lang\.IllegalStateException: no quote"):
        asyncio.run(getattr(asynchronous(**{operation: RAISED}), method)(REQUEST))
