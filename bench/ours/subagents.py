"""Sub-agents that are measured: services in process, so that what is measured is ours. They run inside the TaskManager."""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from pathlib import Path
from typing import Any

from bench.protocol import leave
from bench.waiting import CpuWindow
from flink_agents_subagent import (
    Agent,
    BaseAsyncSubagentSetup,
    BaseDeferredSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    RunState,
    RunStatus,
    SubagentFutures,
    SubagentRequest,
    action,
)

POLL_S = 10.0
"""The longest interval between two probes of a run by default. Here every interval is as long."""
_SETTLE_S = 2 * POLL_S
"""Until all runs are submitted and probed, and the JIT compiler has come to rest."""
_QUIET_S = 3 * POLL_S
"""A hint that keeps runs from being probed while the CPU is watched."""
_QUIET_WINDOW_S = 5.0
_EARLY = 20
"""Runs that end before the others, of which the way back into the action is timed."""
_LIMITS = {"all": 100, "ten": 10}
_CALL_S = 0.1


class Service(BaseAsyncSubagentSetup):
    """A service in process whose runs go on until the process has been watched: while they are probed, and while they are not."""

    def __init__(self, waiting: int) -> None:
        super().__init__(status_poll_interval=POLL_S, status_poll_max_interval=POLL_S)
        self._waiting = waiting
        self._submitted = 0
        self._probes = 0
        self._threads_before = 0
        self._is_watched = False
        self._is_quiet = False
        self._is_over = False
        self._ended: dict[str, float] = {}
        self._resumed_s: list[float] = []

    async def call_submit_request(self, request: SubagentRequest) -> None:  # noqa: ARG002 - one service serves all alike
        """Begin to watch the process when the last run is submitted."""
        if not self._submitted:
            self._threads_before = _threads()
        self._submitted += 1
        if self._submitted == self._waiting:
            self._watcher = asyncio.create_task(self._watch())

    async def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Say that the run goes on until all is over. A few end right after they were asked about."""
        self._probes += 1
        if self._is_over or request.call_id in self._ended:
            return RunStatus(RunState.COMPLETED)
        if self._is_watched and len(self._ended) < _EARLY:
            self._ended[request.call_id] = time.monotonic()
        return RunStatus(RunState.RUNNING, retry_after=_QUIET_S if self._is_quiet else None)

    async def call_fetch_result(self, request: SubagentRequest) -> str:  # noqa: ARG002 - likewise
        """Return the result, which is always the same."""
        return "done"

    def resumed(self, call_id: str) -> None:
        """Note that the action has the result of a call."""
        if call_id in self._ended:
            self._resumed_s.append(time.monotonic() - self._ended[call_id])

    async def _watch(self) -> None:
        await asyncio.sleep(_SETTLE_S)
        self._is_watched = True
        window, probes = CpuWindow(), self._probes
        await asyncio.sleep(POLL_S)
        probing, per_second = window.cores(), (self._probes - probes) / POLL_S
        self._is_quiet = True
        # Each run has then heard that it is not to be probed for a while.
        await asyncio.sleep(POLL_S + 1)
        window, probes = CpuWindow(), self._probes
        await asyncio.sleep(_QUIET_WINDOW_S)
        leave(
            {
                "cores_probing": probing,
                "probes_per_second": per_second,
                "cores_waiting": window.cores(),
                "probes_while_quiet": self._probes - probes,
                "threads_added": _threads() - self._threads_before,
                "resumed_early": len(self._resumed_s),
                "resumed_s": max(self._resumed_s, default=math.inf),
            }
        )
        self._is_over = True


class AskingAgent(Agent):
    """Has each input worked on by the service."""

    def __init__(self, waiting: int) -> None:
        super().__init__()
        self.add_resource("service", ResourceType.AGENT, ResourceDescriptor(clazz=Service, waiting=waiting))

    @action(InputEvent)
    @staticmethod
    async def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the input when its run has ended."""
        service = ctx.get_resource("service", ResourceType.AGENT)
        handle = service.submit(ctx, event.input["value"])
        await handle
        service.resumed(handle.call_id)
        ctx.send_event(OutputEvent(output=event.input))


class Answering(BaseDeferredSubagentSetup):
    """A service that answers after 100 ms."""

    async def call(self, request: SubagentRequest) -> Any:
        """Return the prompt."""
        await asyncio.sleep(_CALL_S)
        return request.prompt


class FanOutAgent(Agent):
    """Awaits a hundred calls together, all of them at once or ten; leaves the seconds that it takes."""

    def __init__(self, warm_up: int, inputs: int) -> None:
        super().__init__()
        self._warm_up = warm_up
        self._total = warm_up + inputs
        self._taken_s: dict[str, list[float]] = {name: [] for name in _LIMITS}
        for name, limit in _LIMITS.items():
            setup = ResourceDescriptor(clazz=Answering, max_concurrency=limit)
            self.add_resource(name, ResourceType.AGENT, setup)

    @action(InputEvent)
    async def handle(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the input."""
        for name, taken_s in self._taken_s.items():
            setup = ctx.get_resource(name, ResourceType.AGENT)
            started = time.perf_counter()
            await SubagentFutures(*[setup.submit(ctx, number) for number in range(100)]).await_all()
            taken_s.append(time.perf_counter() - started)
        if len(taken_s) == self._total:
            leave({f"{each}_s": statistics.median(taken[self._warm_up :]) for each, taken in self._taken_s.items()})
        ctx.send_event(OutputEvent(output=event.input))


def _threads() -> int:
    """Return the number of threads of this process, those of Java included."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("Threads:")[2].split(maxsplit=1)[0])
