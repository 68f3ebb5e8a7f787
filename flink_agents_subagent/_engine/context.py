"""The context of one action execution (E2, E3, E6). Checks who calls, and passes on to the execution; decides nothing itself."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from random import Random  # noqa: TID251 - seeded from the execution's identity: the same on replay (E2.5)
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from flink_agents_subagent._engine.blocking import execute_blocking
from flink_agents_subagent._engine.call_spec import CallOptions, spec_of
from flink_agents_subagent._engine.encoding import canonical, key_value
from flink_agents_subagent._engine.identity import (
    call_id,
    derived_uuid,
    random_seed,
    subagent_digest,
)
from flink_agents_subagent._engine.identity import (
    session_id as session_id_of,
)
from flink_agents_subagent._engine.memory import MemoryView
from flink_agents_subagent._engine.slot import Handle
from flink_agents_subagent._engine.turns import Batch
from flink_agents_subagent.context import (
    CallSpec,
    ChatLimits,
    DurableCall,
    DurableHandle,
    Outcome,
    RetryPolicy,
    RunnerContext,
)
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError
from flink_agents_subagent.events import Event
from flink_agents_subagent.memory import MemoryObject
from flink_agents_subagent.resources import ResourceType

if TYPE_CHECKING:
    from flink_agents_subagent._engine.async_execution import AsyncExecution
    from flink_agents_subagent._engine.execution import Execution

__all__ = ["ExecutionContext"]

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(slots=True)
class _Identity:
    """See `SubagentIdentity`."""

    session_id: str
    call_id: str


class ExecutionContext(RunnerContext):
    """See `RunnerContext`."""

    __slots__ = ("_counts", "_execution", "_key", "_random", "_uuids")

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._key: Any = None
        self._random: Random | None = None
        self._uuids = 0
        self._counts: dict[tuple[str, str], int] | None = None

    def _enter(self, name: str) -> Execution:
        """Return the execution if its own code is calling, on the engine's thread."""
        execution = self._execution
        core = execution.core
        if core.current is not execution or execution.is_sealed or core.thread != get_ident():
            raise execution.refuse_use(name)
        if core.failure is not None:
            core.check()
        return execution

    def _enter_async(self, name: str) -> AsyncExecution:
        """Return the execution if its own code is calling and may suspend (E2.6)."""
        execution = self._enter(name)
        if not execution.action.is_async:
            raise ContextMisuseError(
                f"{name} cannot work in the `def` action {execution.action.name!r}, which runs in one go; "
                "declare the action async def"
            )
        return execution  # type: ignore[return-value]  # async actions have async executions

    # What the run is about

    @property
    def key(self) -> Any:
        """See `RunnerContext.key`."""
        run = self._enter("ctx.key").run
        if self._key is None:
            self._key = key_value(run.key)
        return self._key

    @property
    def agent_name(self) -> str:
        """See `RunnerContext.agent_name`."""
        return self._enter("ctx.agent_name").scope.agent.name

    @property
    def action_name(self) -> str:
        """See `RunnerContext.action_name`."""
        return self._enter("ctx.action_name").action.name

    @property
    def timestamp(self) -> int | None:
        """See `RunnerContext.timestamp`."""
        return self._enter("ctx.timestamp").run.timestamp

    @property
    def config(self) -> Mapping[str, Any]:
        """See `RunnerContext.config`."""
        return self._enter("ctx.config").action.config

    @property
    def short_term_memory(self) -> MemoryObject:
        """See `RunnerContext.short_term_memory`."""
        return MemoryView(self._enter("ctx.short_term_memory").scope.shared.short_term, "", self._check_memory)

    @property
    def sensory_memory(self) -> MemoryObject:
        """See `RunnerContext.sensory_memory`."""
        return MemoryView(self._enter("ctx.sensory_memory").scope.shared.sensory, "", self._check_memory)

    def _check_memory(self) -> None:
        self._enter("memory").run.is_dirty = True

    def send_event(self, event: Event) -> None:
        """See `RunnerContext.send_event`."""
        execution = self._enter("ctx.send_event")
        if not isinstance(event, Event):
            raise TypeError(
                f"send_event takes an Event, not {type(event).__name__}; wrap the value in an event type of yours"
            )
        execution.send(event)
        if execution.core.log is not None:
            execution.core.log.event_sent(execution, event)

    def get_resource(self, name: str, resource_type: ResourceType) -> Any:
        """See `RunnerContext.get_resource`."""
        scope = self._enter("ctx.get_resource").scope
        try:
            return scope.resource(name, resource_type)
        except KeyError:
            known = sorted(scope.resource_names(resource_type))
            raise DefinitionError(
                f"there is no resource {name!r} of type {resource_type.value}; there are {known or 'none of this type'}"
            ) from None

    # Durable calls

    def durable_execute(
        self,
        func: Callable[..., T],
        *args: Any,
        reconciler: Callable[[], T] | None = None,
        durable_id: str | None = None,
        **kwargs: Any,
    ) -> T:
        """See `RunnerContext.durable_execute`."""
        execution = self._enter("ctx.durable_execute")
        if execution.action.is_async:
            raise ContextMisuseError(
                f"ctx.durable_execute would block the async action {execution.action.name!r}; "
                "await ctx.durable_execute_async instead"
            )
        call = DurableCall(func, args, kwargs, reconciler=reconciler, durable_id=durable_id)
        return execute_blocking(execution, call)  # type: ignore[no-any-return]  # what `func` returned, now or when it was recorded

    def durable_execute_async(
        self,
        func: Callable[..., T | Awaitable[T]],
        *args: Any,
        reconciler: Callable[[], Any] | None = None,
        durable_id: str | None = None,
        timeout: timedelta | float | None = None,
        retry: RetryPolicy | None = None,
        **kwargs: Any,
    ) -> DurableHandle[T]:
        """See `RunnerContext.durable_execute_async`."""
        execution = self._enter_async("ctx.durable_execute_async")
        if reconciler is None and durable_id is None and timeout is None and retry is None:
            return execution.open_call(spec_of(func, args, kwargs))
        options = CallOptions(reconciler, durable_id, timeout, retry)
        return execution.open_call(spec_of(func, args, kwargs, options))

    def durable_execute_all_async(
        self, calls: Sequence[DurableCall], max_concurrency: int | None = None
    ) -> Awaitable[list[Outcome]]:
        """See `RunnerContext.durable_execute_all_async`."""
        execution = self._enter_async("ctx.durable_execute_all_async")
        if max_concurrency is not None and max_concurrency < 1:
            raise ContextMisuseError(f"max_concurrency is at least 1, not {max_concurrency}")
        specs = [spec_of(call.func, tuple(call.args), call.kwargs, _options(call)) for call in calls]
        batch = Batch(max_concurrency or len(specs))
        return _outcomes([execution.open_call(spec, batch) for spec in specs])

    def as_completed(self, awaitables: Iterable[Awaitable[T]]) -> AsyncIterator[T]:
        """See `RunnerContext.as_completed`."""
        self._enter_async("ctx.as_completed")
        return _Completed(asyncio.ensure_future(awaitable) for awaitable in awaitables)

    # What would differ on replay

    def now(self) -> datetime:
        """See `RunnerContext.now`."""
        return _EPOCH + timedelta(milliseconds=self._enter("ctx.now").run.journal.read_clock())

    def uuid4(self) -> uuid.UUID:
        """See `RunnerContext.uuid4`."""
        digest = self._digest("ctx.uuid4")
        self._uuids += 1
        return derived_uuid(digest, self._uuids - 1)

    def random(self) -> Random:
        """See `RunnerContext.random`."""
        digest = self._digest("ctx.random")
        if self._random is None:
            self._random = Random(random_seed(digest))  # noqa: S311 - not for secrets
        return self._random

    def patched(self, change_id: str) -> bool:
        """See `RunnerContext.patched`."""
        execution = self._enter("ctx.patched")
        if not isinstance(change_id, str) or not change_id:  # type: ignore[redundant-expr]  # what authors pass
            raise ContextMisuseError(
                f"ctx.patched takes the name of a change, a text that is not empty; not {change_id!r}"
            )
        return execution.run.journal.patched(execution.address, change_id)

    # For sub-agent base classes

    def _open_call(self, spec: CallSpec) -> DurableHandle[Any]:
        return self._enter_async("a sub-agent call").open_call(spec)

    def _open_calls(self, specs: Sequence[CallSpec], max_concurrency: int) -> list[DurableHandle[Any]]:
        execution = self._enter_async("a tool call")
        batch = Batch(max_concurrency)
        return [execution.open_call(spec, batch) for spec in specs]

    def _chat_limits(self) -> ChatLimits:
        settings = self._enter("a chat request").core.settings
        return ChatLimits(settings.max_tool_rounds, settings.tool_parallelism, settings.tool_timeout_ms)

    def _find_type(self, name: str) -> type[Any]:
        return self._enter("a chat request").core.types.resolve(name)

    def _settled_call(self, value: Any, must_be_awaited: str) -> DurableHandle[Any]:
        return self._enter_async("a sub-agent call").settled_call(value, must_be_awaited)

    def _admit_subagent(self, subagent: str, max_calls: int | None) -> str | None:
        scope = self._enter_async("a sub-agent call").scope
        return scope.shared.guards.admit(subagent, max_calls, scope.names)

    def _subagent_depth_left(self) -> int:
        scope = self._enter("a sub-agent call").scope
        return scope.shared.guards.depth_left(scope.names)

    def _fingerprint(self, *values: Any) -> bytes:
        self._enter("a sub-agent call")
        return hashlib.blake2b(canonical(values, strict=True), digest_size=16).digest()

    def _subagent_identity(self, subagent: str, session_id: str | None) -> _Identity:
        digest = subagent_digest(self._digest("a sub-agent call"), subagent)
        if session_id is None:
            session = session_id_of(digest, self._next("session", subagent))
            return _Identity(session, call_id(session, 0, None))
        return _Identity(session_id, call_id(session_id, self._next(subagent, session_id), digest))

    def _digest(self, name: str) -> bytes:
        execution = self._enter(name)
        if execution.digest is None:
            journal, action = execution.run.journal, execution.action.name
            execution.digest = journal.execution_digest(action, execution.event_ordinal, execution.scope.path)
        return execution.digest

    def _next(self, kind: str, name: str) -> int:
        if self._counts is None:
            self._counts = {}
        count = self._counts.get((kind, name), 0)
        self._counts[kind, name] = count + 1
        return count


def _options(call: DurableCall) -> CallOptions:
    return CallOptions(call.reconciler, call.durable_id, call.timeout, call.retry)


async def _outcomes(handles: list[Handle]) -> list[Outcome]:
    await asyncio.gather(*handles, return_exceptions=True)
    return [_outcome(handle) for handle in handles]


def _outcome(handle: Handle) -> Outcome:
    if handle.cancelled():
        return Outcome(error=asyncio.CancelledError())
    error = handle.exception()
    return Outcome(handle.result()) if error is None else Outcome(error=error)


class _Completed(AsyncIterator[T]):
    """Results in the order in which their futures were done; a failed one raises, the others can still be asked for."""

    def __init__(self, futures: Iterable[asyncio.Future[T]]) -> None:
        self._done: deque[asyncio.Future[T]] = deque()
        self._waiter: asyncio.Future[None] | None = None
        # The same handle twice gives one result.
        distinct = list(dict.fromkeys(futures))
        self._left = len(distinct)
        for future in distinct:
            future.add_done_callback(self._take)

    async def __anext__(self) -> T:
        if not self._left:
            raise StopAsyncIteration
        while not self._done:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        self._left -= 1
        return self._done.popleft().result()

    def _take(self, future: asyncio.Future[T]) -> None:
        self._done.append(future)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
