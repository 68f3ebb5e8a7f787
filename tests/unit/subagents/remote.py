"""A service with jobs, for tests: it forgets nothing, and tells what it was asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flink_agents_subagent import BaseAsyncSubagentSetup, RunState, RunStatus, SubagentRequest


@dataclass
class RemoteRun:
    """A run, as the service sees it."""

    prompt: Any
    state: RunState = RunState.RUNNING
    probes: int = 0


@dataclass
class Remote:
    """What is at the other side; one run per key.

    A run is completed at the probe of the number that its prompt says.
    """

    runs: dict[str, RemoteRun] = field(default_factory=dict)
    starts: Counter[str] = field(default_factory=Counter)
    cancels: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)
    faults: dict[str, Callable[[int], BaseException | None]] = field(default_factory=dict)
    """By operation: what its n-th request raises, after it has acted."""
    asked: Counter[str] = field(default_factory=Counter)

    def reset(self) -> None:
        """Forget everything: a new simulation begins."""
        self.runs.clear()
        for counts in (self.starts, self.cancels, self.asked):
            counts.clear()
        self.log.clear()

    def fault(self, operation: str) -> None:
        """Fail if it is to fail; the answer is lost, what was asked for is done."""
        self.asked[operation] += 1
        self.log.append(operation)
        error = self.faults.get(operation, lambda _: None)(self.asked[operation])
        if error is not None:
            raise error

    def submit(self, request: SubagentRequest) -> str:
        """Start a run, unless the key has one."""
        if request.call_id not in self.runs:
            self.starts[request.call_id] += 1
            state = RunState.CANCELLED if self.cancels[request.call_id] else RunState.RUNNING
            self.runs[request.call_id] = RemoteRun(request.prompt, state)
        self.fault("submit")
        return f"run of {request.call_id}"

    def status(self, request: SubagentRequest) -> RunStatus:
        """Tell how far a run is."""
        self.fault("status")
        run = self.runs.get(request.call_id)
        if run is None:
            return RunStatus(RunState.NOT_STARTED)
        if request.run is not None:
            assert request.run == f"run of {request.call_id}"
            run.probes += 1
        if run.state is RunState.RUNNING and run.probes >= run.prompt:
            run.state = RunState.COMPLETED
        return RunStatus(run.state, run=f"run of {request.call_id}")

    def fetch(self, request: SubagentRequest) -> Any:
        """Return the result."""
        self.fault("fetch")
        return {"answer": self.runs[request.call_id].prompt}

    def cancel(self, request: SubagentRequest) -> None:
        """Stop a run; one that comes later is stopped at once."""
        self.cancels[request.call_id] += 1
        run = self.runs.get(request.call_id)
        if run is not None and not run.state.is_terminal:
            run.state = RunState.CANCELLED
        self.fault("cancel")


class Jobs(BaseAsyncSubagentSetup):
    """A sub-agent behind the service."""

    def __init__(self, remote: Remote | None = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.remote = remote or Remote()
        self.requests: list[tuple[str, SubagentRequest]] = []
        self.latency = 0.0

    def open(self) -> None:
        """Begin with an empty service."""
        self.remote.reset()

    async def _ask(self, name: str, request: SubagentRequest, answer: Callable[[SubagentRequest], Any]) -> Any:
        self.requests.append((name, request))
        found = answer(request)
        await asyncio.sleep(self.latency)
        return found

    async def call_submit_request(self, request: SubagentRequest) -> Any:
        """Start the run."""
        return await self._ask("submit", request, self.remote.submit)

    async def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Ask for its state."""
        status: RunStatus = await self._ask("status", request, self.remote.status)
        return status

    async def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Fetch its result."""
        return await self._ask("fetch", request, self.remote.fetch)


class CancellableJobs(Jobs):
    """The same with a service that can cancel."""

    async def call_cancel_request(self, request: SubagentRequest) -> None:
        """Stop the run."""
        await self._ask("cancel", request, self.remote.cancel)


class BlockingJobs(BaseAsyncSubagentSetup):
    """The same without coroutines."""

    def __init__(self, remote: Remote, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.remote = remote

    def open(self) -> None:
        """Begin with an empty service."""
        self.remote.reset()

    def call_submit_request(self, request: SubagentRequest) -> Any:
        """Start the run."""
        return self.remote.submit(request)

    def call_query_status(self, request: SubagentRequest) -> RunStatus:
        """Ask for its state."""
        return self.remote.status(request)

    def call_fetch_result(self, request: SubagentRequest) -> Any:
        """Fetch its result."""
        return self.remote.fetch(request)

    def call_cancel_request(self, request: SubagentRequest) -> None:
        """Stop the run."""
        self.remote.cancel(request)
