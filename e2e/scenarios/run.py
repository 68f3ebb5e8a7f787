"""One run of a scenario: its jobs on a world, with the desks beside them. Owns the course of events and the evidence; judges nothing."""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.harness.effect_server import SEEN_PATH
from e2e.harness.effects import EffectServer
from e2e.harness.journal import read_journal
from e2e.harness.kafka_journal import read_kafka_journal
from e2e.harness.processes import HarnessError, wait_until
from e2e.harness.sinks import committed_lines
from e2e.scenarios.checker import Evidence, Interruption, recorded_calls
from e2e.scenarios.inputs import Expectation, as_lines, expect, make_orders
from e2e.scenarios.model import Crash, Moment, Orphan, Reorder, Scenario
from e2e.scenarios.world import World

__all__ = ["JobRun", "ScenarioRun"]

_JOB = Path(__file__).with_name("job.py")
_LATENCY_MS = (10, 120)
_MOMENT_S = 90.0
_RUNNING_S = 120.0
_FINISH_S = 150.0
_MANUAL_MS = 60_000
"""Checkpoints that are further apart than this are taken by the run, not by the clock."""
_DEAF = {"heartbeat.timeout": "10 min", "heartbeat.rpc-failure-threshold": "-1"}
"""Options of a TaskManager that does not notice the death of the JobManager."""
_OPERATOR = "agent-Orders"


@dataclass(slots=True)
class JobRun:
    """One job of a run, through all its submissions."""

    index: int
    name: str
    """Its job identifier."""
    folder: Path
    orders: list[dict[str, Any]]
    expectation: Expectation
    options: dict[str, Any]
    topic: str
    inputs: Path
    parallelism: int
    code: str
    flink_id: str = ""
    submissions: int = 0
    interruptions: list[Interruption] = field(default_factory=list)
    outputs_before: int = 0

    @property
    def outputs(self) -> Path:
        """The folder of the file sink."""
        return self.folder / "outputs"


class ScenarioRun:
    """The jobs of a scenario.

    Guarantee: what happens is bounded in time, and depends on the scenario and the seed but for the timing of the processes.
    """

    def __init__(self, scenario: Scenario, seed: int, folder: Path, world: World, say: Callable[[str], None]) -> None:
        """Prepare a run below `folder`, which is empty; `say` is told what happens."""
        self.scenario = scenario
        self.world = world
        self.cluster = world.cluster
        self.say = say
        self.deaths = 0
        self.chance = random.Random(f"{seed} {scenario.name}")
        self.desks = EffectServer(folder, _LATENCY_MS)
        self.is_fed_by_folder = any(isinstance(step, Reorder) for step in scenario.steps)
        mark = uuid.uuid4().hex[:6]
        self.jobs = [
            self._job(index, f"{scenario.name}-{mark}-{index}", folder, seed) for index in range(scenario.jobs)
        ]
        if scenario.jobs > 1:
            for job in self.jobs:
                job.topic = job.options["store.kafka.topic"] = f"shared-{mark}"

    @property
    def call_count(self) -> int:
        """How many calls all jobs make when nobody disturbs them."""
        return sum(len(job.expectation.calls) for job in self.jobs)

    def start(self) -> None:
        """Submit the jobs for the first time, on a TaskManager that is what the first step needs."""
        first = self.scenario.steps[0]
        if isinstance(first, (Crash, Orphan)):
            self.cluster.kill_taskmanager(self.cluster.taskmanagers[0])
        if isinstance(first, Crash):
            self.cluster.start_taskmanager(armed(first.points[0]))
        elif isinstance(first, Orphan):
            self.cluster.start_taskmanager(options=_DEAF)
        for job in self.jobs:
            self.submit(job)

    def submit(self, job: JobRun, restore: str | None = None) -> None:
        """Submit a job as it stands."""
        job.submissions += 1
        spec = {
            "name": job.name,
            "desks": f"{self.desks.url}/{job.index}",
            "seen": self.desks.url + SEEN_PATH,
            "code": job.code,
            "order_free": self.is_fed_by_folder,
            "options": job.options,
            "inputs": str(job.inputs),
            "per_second": self.scenario.orders.per_second,
            "checkpoint_ms": self.scenario.checkpoint_ms,
            "outputs": str(job.outputs),
        }
        file = job.folder / f"submission-{job.submissions}.json"
        file.write_text(json.dumps(spec), encoding="utf-8")
        job.flink_id = self.cluster.submit(_JOB, str(file), restore=restore, parallelism=job.parallelism)

    def wait_for(self, moment: Moment) -> None:
        """Return when this share of the calls was made, while the jobs run."""
        share = moment if isinstance(moment, (int, float)) else self.chance.uniform(*moment)
        calls = round(share * self.call_count)

        def reached() -> bool:
            return self.desks.request_count() >= calls or all(
                self.cluster.has_finished(job.flink_id) for job in self.jobs
            )

        wait_until(reached, f"{calls} of {self.call_count} calls are made", _MOMENT_S, poll_s=0.1)
        if self.desks.request_count() < calls:
            raise HarnessError(f"the jobs finished with fewer calls than the {calls} at which something had to happen")

    def wait_for_requests(self, desk: str, count: int, since: int) -> None:
        """Return when a desk of the first job was asked so many times more than the `since` times before."""
        wait_until(
            lambda: self.asked(desk) >= since + count, f"{count} requests reach desk {desk}", _MOMENT_S, poll_s=0.1
        )

    def asked(self, desk: str) -> int:
        """Return how many requests came to a desk of the first job."""
        return sum(request.path == f"/0/{desk}" for request in self.desks.requests())

    def wait_until_running(self) -> None:
        """Return when every subtask of every job runs on a TaskManager that lives."""
        for job in self.jobs:
            self.cluster.wait_until_running(job.flink_id, within_s=_RUNNING_S)

    def wait_for_failure(self, job: JobRun, pattern: str) -> None:
        """Return when an attempt of the job has failed so."""

        def failed() -> bool:
            if self.cluster.has_finished(job.flink_id):
                raise HarnessError(f"job {job.name} has finished")
            return any(re.search(pattern, failure, re.DOTALL) for failure in self.cluster.rest.failures(job.flink_id))

        try:
            wait_until(failed, f"job {job.name} fails with {pattern!r}", _RUNNING_S, poll_s=0.2)
        except HarnessError as error:
            failures = [failure[:2000] for failure in self.cluster.rest.failures(job.flink_id)[:2]]
            raise HarnessError(f"{error}; it failed with {failures}") from error

    def recorded(self, job: JobRun) -> frozenset[str]:
        """Return the keys of the calls whose outcome is in the store now."""
        if self.scenario.store == "embedded":
            return recorded_calls(read_journal(job.folder / "store"))
        return recorded_calls(read_kafka_journal(self.world.brokers[0].data, job.topic, job.name).records)

    def died(self, begin_ns: int) -> None:
        """Note that nothing of the jobs is alive since `begin_ns`; reads what the next attempt will find."""
        self.deaths += 1
        for job in self.jobs:
            recorded = self.recorded(job)
            job.interruptions.append(Interruption(begin_ns, time.monotonic_ns(), recorded))
        counts = ", ".join(str(len(job.interruptions[-1].recorded)) for job in self.jobs)
        self.say(f"{self.desks.request_count()} requests were sent, {counts} outcomes are recorded")

    def interrupted(self, begin_ns: int) -> None:
        """Note that attempts ended between `begin_ns` and now, while others may have begun."""
        for job in self.jobs:
            recorded = self.recorded(job)
            job.interruptions.append(Interruption(begin_ns, time.monotonic_ns(), recorded, is_death=False))

    def replace_taskmanager(self, variables: Mapping[str, str] | None = None) -> None:
        """Kill the TaskManager and start a new one; returns before that one runs anything."""
        (name,) = self.cluster.taskmanagers
        self.died(self.cluster.kill_taskmanager(name))
        self.cluster.start_taskmanager(variables)

    def checkpoint(self, job: JobRun) -> None:
        """Take a checkpoint and return when it is complete."""
        before = self.cluster.rest.checkpoints(job.flink_id).completed
        self.cluster.rest.checkpoint(job.flink_id)
        self.cluster.wait_for_checkpoints(job.flink_id, before + 1, within_s=_MOMENT_S)

    def last_checkpoint(self, job: JobRun) -> str:
        """Return the path of the last complete checkpoint that is retained."""
        complete = (self.cluster.folder / "checkpoints" / job.flink_id).glob("chk-*/_metadata")
        newest = max(complete, key=lambda file: int(file.parent.name.removeprefix("chk-")), default=None)
        if newest is None:
            raise HarnessError(f"job {job.name} has no complete checkpoint")
        return newest.parent.as_uri()

    def finish(self) -> None:
        """Return when each job has done its work and committed its outputs."""
        for job in self.jobs:
            wait_until(lambda job=job: self._is_done(job), f"job {job.name} is done", _FINISH_S, poll_s=0.2)  # type: ignore[misc]  # a default binds it
            if self.is_fed_by_folder:
                self.cluster.rest.cancel(job.flink_id)
                self.cluster.wait_for_status(job.flink_id, "CANCELED", within_s=60)

    def evidence(self, job: JobRun) -> Evidence:
        """Return what is known about a job in the end."""
        requests = [request for request in self.desks.requests() if request.path.startswith(f"/{job.index}/")]
        return Evidence(committed_lines(job.outputs), requests, job.interruptions, self.recorded(job))

    def failures(self, job: JobRun) -> Sequence[str]:
        """Return the failures of the job's last submission, newest first."""
        return self.cluster.rest.failures(job.flink_id)

    def abandon(self) -> None:
        """End the jobs as far as the cluster still answers, so that the next scenario has the slots."""
        for job in self.jobs:
            if job.flink_id and self.cluster.rest.status(job.flink_id) not in ("FINISHED", "CANCELED", "FAILED"):
                self.cluster.rest.cancel(job.flink_id)

    def _is_done(self, job: JobRun) -> bool:
        if not self.is_fed_by_folder and self.cluster.has_finished(job.flink_id):
            return True
        if self.scenario.checkpoint_ms > _MANUAL_MS:
            # Outputs are committed with checkpoints, the last ones of a job that ends too.
            self.cluster.rest.checkpoint(job.flink_id)
        return self.is_fed_by_folder and len(committed_lines(job.outputs)) >= len(job.orders)

    def _job(self, index: int, name: str, parent: Path, seed: int) -> JobRun:
        folder = parent / f"job-{index}"
        folder.mkdir()
        orders = make_orders(self.scenario.orders, seed, index)
        inputs = folder / "inputs"
        if self.is_fed_by_folder:
            inputs.mkdir()
        else:
            inputs.write_text(as_lines(orders), encoding="utf-8")
        options: dict[str, Any] = {"job-identifier": name, **self._store(folder), **self.scenario.options}
        expectation = expect(orders, order_free=self.is_fed_by_folder)
        topic = f"flink-agents-subagent.{name}.{_OPERATOR}"
        return JobRun(
            index,
            name,
            folder,
            orders,
            expectation,
            options,
            topic,
            inputs,
            self.scenario.parallelism,
            self.scenario.code,
        )

    def _store(self, folder: Path) -> Mapping[str, Any]:
        if self.scenario.store == "embedded":
            # So that what was recorded when can be told in the end.
            return {"store.embedded.dir": str(folder / "store"), "store.retained-checkpoints": 1_000_000}
        return {
            "action-state-store": "kafka",
            "store.kafka.bootstrap-servers": self.world.addresses,
            "store.kafka.partitions": 8,
        }


def armed(point: str) -> Mapping[str, str]:
    """Return the environment of a TaskManager that dies at a point (decision 0011)."""
    return {"FLINK_AGENTS_SUBAGENT_CRASH": point}
