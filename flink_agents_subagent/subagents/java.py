"""Sub-agents that are written in Java: what an author registers, and what it becomes where it runs (decision 0008).

Owns the meaning of what crosses; must not know how it crosses, which a host's `JavaPort` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple, Protocol, TypeAlias

from typing_extensions import Unpack

from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import BridgeError, DefinitionError, DurableCallError
from flink_agents_subagent.subagents.asynchronous import AsyncSubagentArguments, BaseAsyncSubagentSetup
from flink_agents_subagent.subagents.deferred import BaseDeferredSubagentSetup, DeferredSubagentArguments
from flink_agents_subagent.subagents.future import SubagentFuture
from flink_agents_subagent.subagents.normalization import normalize
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.result import SubagentResult
from flink_agents_subagent.subagents.setup import SubagentArguments, SubagentSetup
from flink_agents_subagent.subagents.status import RunState, RunStatus

__all__ = ["JavaAnswer", "JavaMode", "JavaPort", "JavaSubagent"]

JavaAnswer: TypeAlias = Mapping[str, Any]
"""One of `result`, `status`, `run`, `done`, `raised` (decision 0008)."""

_DESCRIBING = SubagentArguments.__optional_keys__


class JavaMode(NamedTuple):
    """What kind of sub-agent a Java class is."""

    is_async: bool
    reconciles: bool


class JavaPort(Protocol):
    """How a host reaches Java. Values are what JSON can express."""

    def open(self, resource: str, class_name: str, args: Mapping[str, Any]) -> JavaMode:
        """Make and open an instance for a resource; raises `DefinitionError` with the class and the remedy. Task thread."""

    async def perform(self, resource: str, operation: str, request: SubagentRequest) -> JavaAnswer:
        """Let the instance do one thing and return its answer; cancelled, it is told to stop. Background loop."""

    def close(self, resource: str) -> None:
        """Close the instance, also one whose `open` failed. Task thread."""


class JavaSubagent(SubagentSetup):
    """A sub-agent that is implemented in Java, by a class in a jar of the job.

    The class implements `DeferredSubagent` or `AsyncSubagent` of `io.github.flinkagents.subagent.api`; handles, results, journal and
    replay are those of `BaseDeferredSubagentSetup` and `BaseAsyncSubagentSetup`.

    Guarantee: a Java exception becomes a failed result, or a `BridgeError` when it escapes from a status probe or a fetch (B5).
    Replay: as for a sub-agent in Python; what is journalled is the JSON data that Java returned.
    Thread: the Java code runs on threads of its own and never holds the GIL; its `open` and `close` on the task thread.
    """

    def __init__(
        self, class_name: str, *, args: Mapping[str, Any] | None = None, **arguments: Unpack[AsyncSubagentArguments]
    ) -> None:
        """Describe the sub-agent.

        Args:
            class_name: Full name of the Java class, `com.acme.Pricer`.
            args: What its `open` is given: what JSON can express.
            arguments: The attributes of `BaseAsyncSubagentSetup`; for a deferred class those of `BaseDeferredSubagentSetup`.

        Raises:
            DefinitionError: A blank class name, or a value that cannot work.
            NotExpressibleError: JSON cannot express the args; carries the path.
            TypeError: There is no such argument.
        """
        if not isinstance(class_name, str) or not class_name.strip():  # type: ignore[redundant-expr]  # what authors pass
            raise DefinitionError(
                f"a JavaSubagent has the class {class_name!r}; give its full name, as in 'com.acme.Pricer'"
            )
        self.class_name = class_name
        self._args: dict[str, Any] = normalize({} if args is None else args, "args")
        self._arguments: Mapping[str, Any] = {**arguments}
        # Whatever the mode will be, a value that cannot work is an error here and not only in a TaskManager.
        _Asynchronous(None, self._arguments)
        described = {name: value for name, value in self._arguments.items() if name in _DESCRIBING}
        self._take_arguments(described, SubagentArguments)
        self._port: JavaPort | None = None
        self._opened: SubagentSetup | None = None

    def attach(self, port: JavaPort) -> None:
        """Take the way to Java; called by the host before `open`."""
        self._port = port

    def open(self) -> None:
        """Load and open the Java class, and take its mode.

        Raises:
            DefinitionError: It cannot be loaded, made or opened, or has another mode than the arguments are for; names class and
                remedy. Or there is no Java here.
        """
        if self._port is None:
            raise DefinitionError(
                f"sub-agent {self.name!r} is the Java class {self.class_name}, and there is no Java here: it runs in Flink. In tests "
                f"put a setup in Python in its place: testing.with_stand_ins(agent, {{{self.name!r}: ...}})"
            )
        mode = self._port.open(self.name, self.class_name, self._args)
        self._opened = self._make(_Target(self._port, self.name), mode)
        self._opened.bind_name(self.name)

    def close(self) -> None:
        """Close the Java object."""
        if self._port is not None:
            self._port.close(self.name)

    def submit(  # noqa: D102 -- inherited
        self,
        ctx: RunnerContext,
        prompt: Any,
        session_id: str | None = None,
        timeout: timedelta | float | None = None,
        *,
        call_id: str | None = None,
    ) -> SubagentFuture:
        if self._opened is None:
            raise DefinitionError(f"sub-agent {self.name!r} is not open")
        return self._opened.submit(ctx, normalize(prompt, "prompt"), session_id, timeout, call_id=call_id)

    def _make(self, target: _Target, mode: JavaMode) -> SubagentSetup:
        if mode.is_async:
            return _Asynchronous(target, self._arguments)
        strange = sorted(self._arguments.keys() - DeferredSubagentArguments.__optional_keys__)
        if strange:
            raise DefinitionError(
                f"the class {self.class_name} of sub-agent {self.name!r} is a DeferredSubagent, which has no "
                f"{', '.join(strange)}; leave it out"
            )
        return (_Reconciling if mode.reconciles else _Deferred)(target, self._arguments)


class _Target(NamedTuple):
    """The Java object of one resource."""

    port: JavaPort
    resource: str

    async def perform(self, operation: str, request: SubagentRequest) -> JavaAnswer:
        """Let it do one thing.

        Raises:
            DurableCallError: A Java exception, with its class and message.
        """
        answer = await self.port.perform(self.resource, operation, request)
        if "raised" in answer:
            raised = answer["raised"]
            raise DurableCallError(raised["type"], raised["message"])
        return answer

    async def inquire(self, operation: str, request: SubagentRequest) -> JavaAnswer:
        """Let it answer what must be answered; an exception is a failure of the system (M4).

        Raises:
            BridgeError: A Java exception, with its class and message.
        """
        try:
            return await self.perform(operation, request)
        except DurableCallError as error:
            raise BridgeError(
                f"the Java sub-agent {self.resource!r} failed in {operation} of call {request.call_id}: {error}"
            ) from error


class _Deferred(BaseDeferredSubagentSetup):
    """A `DeferredSubagent`."""

    # What an author has written, for messages.
    __qualname__ = "JavaSubagent"

    def __init__(self, target: _Target, arguments: Mapping[str, Any]) -> None:
        super().__init__(**arguments)
        self._target = target

    async def call(self, request: SubagentRequest) -> SubagentResult:
        return _result(await self._target.perform("call", request))


class _Reconciling(_Deferred):
    """A `ReconcilingSubagent`."""

    __qualname__ = "JavaSubagent"

    async def reconcile(self, request: SubagentRequest) -> SubagentResult | None:
        answer = await self._target.perform("reconcile", request)
        return None if "done" in answer else _result(answer)


class _Asynchronous(BaseAsyncSubagentSetup):
    """An `AsyncSubagent`."""

    __qualname__ = "JavaSubagent"

    def __init__(self, target: _Target | None, arguments: Mapping[str, Any]) -> None:
        """Make it; without a target only to check the arguments."""
        super().__init__(**arguments)
        if target is not None:
            self._target = target

    async def call_submit_request(self, request: SubagentRequest) -> Any:
        answer = await self._target.perform("submit", request)
        return _result(answer) if "result" in answer else answer["run"]

    async def call_query_status(self, request: SubagentRequest) -> RunStatus:
        return _status(await self._target.inquire("status", request))

    async def call_fetch_result(self, request: SubagentRequest) -> SubagentResult:
        return _result(await self._target.inquire("fetch", request))

    async def call_cancel_request(self, request: SubagentRequest) -> None:
        await self._target.perform("cancel", request)

    async def reconcile_submit_request(self, request: SubagentRequest) -> RunStatus:
        return _status(await self._target.inquire("reconcile", request))


def _result(answer: JavaAnswer) -> SubagentResult:
    told = answer["result"]
    return SubagentResult.ok(told["value"]) if told["ok"] else SubagentResult.error(told["error"], told["reason"])


def _status(answer: JavaAnswer) -> RunStatus:
    told = answer["status"]
    hint = told["retry_after_ms"]
    return RunStatus(
        RunState(told["state"]),
        told["reason"],
        retry_after=None if hint is None else timedelta(milliseconds=hint),
        run=told["run"],
    )
