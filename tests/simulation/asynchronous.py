"""The statements of `async def` actions: everything of asyncio that an action may use (E2.1)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from flink_agents_subagent import DurableTimeoutError, ResourceType, SubagentFutures
from tests.simulation import programs as p
from tests.simulation.interpreter import Body, calls_inside, durable_call

__all__ = ["run_async"]


async def run_async(body: Body, statements: p.Body) -> None:
    """Run statements one after the other."""
    for statement in statements:
        run = _RUN.get(type(statement))
        if run is None:
            body.do(statement)
        else:
            await run(body, statement)


def _start(body: Body, call: p.Call) -> Any:
    described = durable_call(body, call)
    return body.ctx.durable_execute_async(
        described.func,
        *described.args,
        reconciler=described.reconciler,
        timeout=described.timeout,
        retry=described.retry,
    )


async def _settle(body: Body, awaitable: Any, *, is_caught: bool) -> Any:
    try:
        return await awaitable
    except (ConnectionError, DurableTimeoutError) as error:
        body.note("failed", type(error).__name__, error.args if isinstance(error, ConnectionError) else ())
        if not is_caught:
            raise
        return "failed"


async def _call(body: Body, call: p.Call) -> None:
    body.note(await _settle(body, _start(body, call), is_caught=call.is_caught))


async def _ask(body: Body, ask: p.Ask) -> None:
    helper = body.ctx.get_resource("helper", ResourceType.AGENT)
    handles = [helper.submit(body.ctx, (ask.takes_ms, f"{body.digest}{number}")) for number in range(ask.prompts)]
    if ask.is_cancelled:
        for handle in handles:
            body.note("cancelled", handle.cancel())
        return
    for result in await asyncio.gather(*handles):
        body.note(result)


async def _job(body: Body, job: p.Job) -> None:
    jobs = body.ctx.get_resource("jobs", ResourceType.AGENT)
    timeout = None if job.timeout_ms is None else job.timeout_ms / 1000
    handles = [
        jobs.submit(body.ctx, (job.probes, f"{body.digest}{number}"), timeout=timeout) for number in range(job.prompts)
    ]
    await _end(body, job, handles)


async def _child(body: Body, child: p.Child) -> None:
    handles = calls_inside(body, child)
    if handles:
        await _end(body, child, handles)


async def _end(body: Body, statement: p.Job | p.Child, handles: list[Any]) -> None:
    try:
        if statement.ends == "later":
            # What starts at its await has to be started.
            waiters = [asyncio.ensure_future(_awaited(handle)) for handle in handles]
            await asyncio.sleep(0.05)
            body.note("later", [waiter.done() for waiter in waiters])
        elif statement.ends == "any":
            first = await SubagentFutures(*handles).await_any()
            body.note("any", first.call_id, await first)
        elif statement.ends == "await":
            for result in await SubagentFutures(*handles).await_all():
                body.note(result)
    finally:
        # What the code leaves in the middle of something must not be left open.
        for handle in handles:
            body.note("cancelled", handle.cancel())


async def _awaited(handle: Any) -> Any:
    with contextlib.suppress(asyncio.CancelledError):
        return await handle


async def _gather(body: Body, gather: p.Gather) -> None:
    handles = [_start(body, call) for call in gather.calls]
    for result in await asyncio.gather(*handles, return_exceptions=True):
        body.note(result if isinstance(result, str) else type(result).__name__)


async def _batch(body: Body, batch: p.Batch) -> None:
    calls = [durable_call(body, call) for call in batch.calls]
    for outcome in await body.ctx.durable_execute_all_async(calls, max_concurrency=batch.limit):
        body.note(outcome.value if outcome.is_success else type(outcome.error).__name__)


async def _first_of(body: Body, first: p.FirstOf) -> None:
    handles = [asyncio.ensure_future(_start(body, call)) for call in first.calls]
    done, pending = await asyncio.wait(handles, return_when=asyncio.FIRST_COMPLETED)
    body.note("first", [handles.index(handle) for handle in done], [handles.index(handle) for handle in pending])
    for handle in pending:
        handle.cancel()
    for handle in done:
        body.note(await _settle(body, handle, is_caught=True))


async def _all_of(body: Body, statement: p.AllOf) -> None:
    tasks = [asyncio.create_task(_settle(body, _start(body, call), is_caught=True)) for call in statement.calls]
    done, _ = await asyncio.wait(tasks)
    body.note("all", [tasks.index(task) for task in done])


async def _as_completed(body: Body, statement: p.AsCompleted) -> None:
    handles = [_settle(body, _start(body, call), is_caught=True) for call in statement.calls]
    async for result in body.ctx.as_completed(handles):
        body.note("completed", result)


async def _detach(body: Body, detach: p.Detach) -> None:
    body.handles.append(_start(body, detach.call))


async def _join(body: Body, join: p.Join) -> None:
    handles, body.handles = body.handles, []
    for handle in handles:
        body.note(handle.done())
        if join.is_cancelled:
            handle.cancel()
        else:
            body.note(await _settle(body, handle, is_caught=True))


async def _sleep(body: Body, sleep: p.Sleep) -> None:
    await asyncio.sleep(sleep.ms / 1000)


async def _wait_for(body: Body, wait: p.WaitFor) -> None:
    try:
        await asyncio.wait_for(run_async(body, wait.body), wait.ms / 1000)
    except asyncio.TimeoutError:
        body.note("late")


async def _cancel(body: Body, cancel: p.Cancel) -> None:
    task = asyncio.create_task(run_async(body, cancel.body))
    await asyncio.sleep(cancel.ms / 1000)
    body.note("cancel", task.cancel())
    try:
        await task
    except asyncio.CancelledError:
        body.note("cancelled")


async def _parallel(body: Body, parallel: p.Parallel) -> None:
    await asyncio.gather(*[run_async(body, inner) for inner in parallel.bodies])


async def _exclusive(body: Body, exclusive: p.Exclusive) -> None:
    if body.lock.locked():
        # A lock is not reentrant: an inner one of the same task would wait for itself.
        await run_async(body, exclusive.body)
        return
    async with body.lock:
        await run_async(body, exclusive.body)


async def _try(body: Body, statement: p.Try) -> None:
    try:
        await run_async(body, statement.body)
    except Exception as error:  # noqa: BLE001 - authors do
        body.note("caught", type(error).__name__)


async def _finally(body: Body, statement: p.Finally) -> None:
    try:
        await run_async(body, statement.body)
    finally:
        await run_async(body, statement.cleanup)


async def _branch(body: Body, branch: p.Branch) -> None:
    await run_async(body, branch.yes if int(body.digest, 16) % 2 else branch.no)


_RUN: dict[type[Any], Callable[[Body, Any], Awaitable[None]]] = {
    p.AllOf: _all_of,
    p.AsCompleted: _as_completed,
    p.Ask: _ask,
    p.Batch: _batch,
    p.Branch: _branch,
    p.Call: _call,
    p.Cancel: _cancel,
    p.Child: _child,
    p.Detach: _detach,
    p.Exclusive: _exclusive,
    p.Finally: _finally,
    p.FirstOf: _first_of,
    p.Gather: _gather,
    p.Job: _job,
    p.Join: _join,
    p.Parallel: _parallel,
    p.Sleep: _sleep,
    p.Try: _try,
    p.WaitFor: _wait_for,
}
