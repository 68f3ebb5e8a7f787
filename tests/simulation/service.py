"""A service with jobs and without idempotency keys: it loses answers, and tells afterwards what was done to it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from flink_agents_subagent import RetryPolicy, RunState, RunStatus, SubagentRequest
from tests.unit.subagents.remote import CancellableJobs, Remote

__all__ = ["Service", "service"]


def _lost(number: int) -> BaseException | None:
    return ConnectionError("the answer is lost") if number % 3 == 0 else None


class Service(Remote):
    """Starts a run for each submit that it gets; a second one for a call would be seen."""

    def __init__(self, max_concurrency: int | None = 2) -> None:
        self.max_concurrency = max_concurrency
        super().__init__(faults=dict.fromkeys(("submit", "status", "fetch", "cancel"), _lost))
        self.broken: list[str] = []
        """What must not have happened, over all simulations."""

    def reset(self) -> None:
        """Look at what the last simulation has done, and forget it."""
        self.broken += [f"call {key} has started {count} runs" for key, count in self.starts.items() if count != 1]
        self.broken += [
            f"the run of {key} was left alone" for key, run in self.runs.items() if not run.state.is_terminal
        ]
        super().reset()

    def submit(self, request: SubagentRequest) -> str:
        """Start a run, also for a call that has one."""
        self.runs.pop(request.call_id, None)
        return super().submit(request)

    def status(self, request: SubagentRequest) -> RunStatus:
        """Tell how far a run is."""
        run = self.runs.get(request.call_id)
        if run is not None and request.run is not None and run.state is RunState.RUNNING:
            run.probes += 1
            if run.probes >= run.prompt[0]:
                run.state = RunState.COMPLETED
        self.fault("status")
        if run is None:
            return RunStatus(RunState.NOT_STARTED)
        return RunStatus(run.state, run=f"run of {request.call_id}")


def service(remote: Service) -> CancellableJobs:
    """Return the sub-agent, with retries that outlast the faults."""
    retry: Any = RetryPolicy(max_attempts=50, initial=timedelta(milliseconds=10))
    return CancellableJobs(remote, retry=retry, max_concurrency=remote.max_concurrency, status_poll_interval=0.02)
