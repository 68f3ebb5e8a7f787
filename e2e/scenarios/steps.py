"""Performs the steps of a scenario. Owns one function for each kind of step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from e2e.harness.kafka_log import read_log
from e2e.harness.processes import HarnessError, wait_until
from e2e.harness.topic_tool import ForeignRecord
from e2e.scenarios.inputs import as_lines
from e2e.scenarios.model import (
    BrokerAway,
    Crash,
    Inject,
    Kill,
    KillWhileBrokerSilent,
    Orphan,
    Reject,
    Reorder,
    RestartJobManager,
    Resume,
    Step,
    Zombie,
)
from e2e.scenarios.run import JobRun, ScenarioRun, armed
from flink_agents_subagent.testing.http import Fault

__all__ = ["perform"]

_CRASH_S = 90.0
_STILL_S = 1.0
_HELD = 4
_ENDED = r"agent-Orders .* switched from RUNNING to (FAILED|CANCELING|CANCELED)"
_FENCED = r"agent-Orders .* switched from RUNNING to FAILED with failure cause:\s.*no longer owns key groups"


def perform(run: ScenarioRun, step: Step) -> None:
    """Perform a step; returns when the job goes on, or is about to."""
    run.say(str(step))
    _PERFORMERS[type(step)](run, step)


def _kill(run: ScenarioRun, step: Kill) -> None:
    run.wait_for(step.at)
    if not step.throttle:
        run.replace_taskmanager()
        run.wait_until_running()
        return
    with _everything_held(run):
        run.world.tool.throttle(step.throttle)
        run.replace_taskmanager()
    run.wait_until_running()
    run.world.tool.throttle(0)


def _crash(run: ScenarioRun, step: Crash) -> None:
    following = [*step.points[1:], None]
    for point, then in zip(step.points, following, strict=True):
        name, passages = point.split(":")
        (taskmanager,) = run.cluster.taskmanagers
        reason = f"crash point {name} passed {passages} times"
        run.died(run.cluster.wait_for_death(taskmanager, reason, _CRASH_S))
        run.say(f"died: {reason}")
        run.cluster.start_taskmanager(armed(then) if then else None)
    run.wait_until_running()


def _restart_jobmanager(run: ScenarioRun, step: RestartJobManager) -> None:
    run.wait_for(step.at)
    for job in run.jobs:
        run.cluster.wait_for_checkpoints(job.flink_id, 1, within_s=_CRASH_S)
    killed_ns = run.cluster.kill_jobmanager()
    run.deaths += 1
    run.cluster.start_jobmanager()
    run.cluster.wait_for_taskmanager(run.cluster.taskmanagers[0])
    run.interrupted(killed_ns)
    for job in run.jobs:
        run.submit(job, run.last_checkpoint(job))
    # Attempts of before may have lived until here.
    run.interrupted(killed_ns)
    run.wait_until_running()


def _resume(run: ScenarioRun, step: Resume) -> None:
    run.wait_for(step.at)
    asked = run.asked("c")
    run.desks.set_faults([Fault("hold", f"/{job.index}/c", times=_HELD) for job in run.jobs])
    run.wait_for_requests("c", _HELD - 1, asked)
    begin_ns = time.monotonic_ns()
    savepoints = [run.cluster.stop_with_savepoint(job.flink_id) for job in run.jobs]
    for job in run.jobs:
        run.cluster.wait_for_status(job.flink_id, "FINISHED", within_s=60)
    run.died(begin_ns)
    run.deaths -= 1
    for job, savepoint in zip(run.jobs, savepoints, strict=True):
        job.parallelism = step.parallelism or job.parallelism
        if step.fails_with is not None and step.code is not None:
            _refuse(run, job, step.code, step.fails_with, savepoint)
        else:
            job.code = step.code or job.code
        run.submit(job, savepoint)
    run.desks.set_faults([])
    run.wait_until_running()


def _refuse(run: ScenarioRun, job: JobRun, code: str, fails_with: str, savepoint: str) -> None:
    """See a submission with other code fail before it makes the other call."""
    right, job.code = job.code, code
    run.submit(job, savepoint)
    run.wait_for_failure(job, fails_with)
    run.cluster.rest.cancel(job.flink_id)
    run.cluster.wait_for_status(job.flink_id, "CANCELED", within_s=60)
    job.code = right
    if sent := run.asked("x"):
        raise HarnessError(f"code {code!r} was refused after it had sent {sent} requests")


def _broker_away(run: ScenarioRun, step: BrokerAway) -> None:
    run.wait_for(step.at)
    broker = run.world.brokers[0]
    if step.how == "pause":
        broker.pause()
    elif step.how == "kill":
        broker.kill()
    else:
        broker.stop()
    time.sleep(step.seconds)
    if step.how == "pause":
        broker.resume()
    else:
        broker.start()


def _kill_while_broker_silent(run: ScenarioRun, step: KillWhileBrokerSilent) -> None:
    run.wait_for(step.at)
    broker = run.world.brokers[0]
    broker.pause()
    _wait_until_still(run)
    run.replace_taskmanager()
    broker.resume()
    run.wait_until_running()


@contextmanager
def _everything_held(run: ScenarioRun) -> Iterator[None]:
    """Keep the jobs from going on, and from ending, in the block: every run waits for a desk that does not answer."""
    run.desks.set_faults([Fault("hold", f"/{job.index}/c", times=1_000_000) for job in run.jobs])
    _wait_until_still(run)
    yield
    run.desks.set_faults([])


def _wait_until_still(run: ScenarioRun) -> None:
    """Return when no request came for a while: everything waits for the store, or has ended."""
    last, since = -1, time.monotonic()

    def is_still() -> bool:
        nonlocal last, since
        if (count := run.desks.request_count()) != last:
            last, since = count, time.monotonic()
        return time.monotonic() - since >= _STILL_S

    wait_until(is_still, "no request comes any more", 60, poll_s=0.1)


def _zombie(run: ScenarioRun, step: Zombie) -> None:
    run.wait_for(step.at)
    (name,) = run.cluster.taskmanagers
    # Each call that it has begun is sent: one that it was about to send would go out when it wakes, and nobody could stop it.
    with _everything_held(run):
        paused_ns = run.cluster.pause_taskmanager(name)
    run.interrupted(paused_ns)
    run.deaths += 1
    run.cluster.start_taskmanager()
    run.wait_until_running()
    run.wait_for(1.0)
    _wait_until_still(run)
    # Whatever is recorded by now must not be asked for again: the zombie holds calls that its successor has made.
    run.interrupted(paused_ns)
    run.cluster.resume_taskmanager(name)
    run.cluster.wait_for_lost_log(name, _ENDED, within_s=60)
    run.cluster.end_lost(name)


def _orphan(run: ScenarioRun, step: Orphan) -> None:
    run.wait_for(step.at)
    (job,) = run.jobs
    run.cluster.wait_for_checkpoints(job.flink_id, 1, within_s=_CRASH_S)
    with _everything_held(run):
        (orphan,) = run.cluster.taskmanagers
        killed_ns = run.cluster.kill_jobmanager()
        run.deaths += 1
        run.cluster.lose_taskmanager(orphan)
        run.cluster.start_jobmanager()
        run.cluster.wait_for_taskmanager(run.cluster.start_taskmanager())
        run.interrupted(killed_ns)
        run.submit(job, run.last_checkpoint(job))
        run.wait_until_running()
        # Its successor has taken over what it holds; the answers to its calls come only now.
        run.interrupted(killed_ns)
    run.cluster.wait_for_lost_log(orphan, _FENCED, within_s=60)
    run.cluster.end_lost(orphan)


def _reject(run: ScenarioRun, step: Reject) -> None:
    run.wait_for(step.at)
    (job,) = run.jobs
    begin_ns = time.monotonic_ns()
    refuse, accept = _REJECTIONS[step.how]
    with _everything_held(run):
        refuse(run, job)
    run.wait_for_failure(job, step.fails_with)
    accept(run, job)
    run.wait_until_running()
    run.interrupted(begin_ns)


def _lose_a_replica(run: ScenarioRun, job: JobRun) -> None:
    run.world.tool.set(job.topic, "min.insync.replicas", "2")
    run.world.brokers[1].kill()


_Rejection = tuple[Callable[[ScenarioRun, JobRun], None], Callable[[ScenarioRun, JobRun], None]]
_REJECTIONS: Mapping[str, _Rejection] = {
    "too large": (
        lambda run, job: run.world.tool.set(job.topic, "max.message.bytes", "4000"),
        lambda run, job: run.world.tool.set(job.topic, "max.message.bytes", "9000000"),
    ),
    "no permission": (
        lambda run, job: run.world.tool.deny(job.topic, "Write"),
        lambda run, job: run.world.tool.allow(job.topic, "Write"),
    ),
    "too few replicas": (_lose_a_replica, lambda run, _: run.world.brokers[1].start()),
}


def _inject(run: ScenarioRun, step: Inject) -> None:
    run.wait_for(step.at)
    (job,) = run.jobs
    run.checkpoint(job)
    with _everything_held(run):
        log = read_log(run.world.brokers[0].data, job.topic)
        victim = next(entry for entry in log if entry.key and entry.value)
        torn = ForeignRecord((victim.value or b"")[:-1], victim.key, victim.headers["fas"])
        written = [ForeignRecord(b"hello from somebody else"), torn]
        foreign, _ = run.world.tool.write(job.topic, victim.partition, written)
        run.replace_taskmanager()
    run.wait_for_failure(job, rf"{job.topic}-{victim.partition}, offset {foreign}.*store\.on-corrupt")
    begin_ns = time.monotonic_ns()
    run.cluster.rest.cancel(job.flink_id)
    run.cluster.wait_for_status(job.flink_id, "CANCELED", within_s=60)
    job.options["store.on-corrupt"] = "skip"
    run.submit(job, run.last_checkpoint(job))
    run.interrupted(begin_ns)
    run.wait_until_running()


def _reorder(run: ScenarioRun, step: Reorder) -> None:
    (job,) = run.jobs
    first, second = job.orders[: len(job.orders) // 2], job.orders[len(job.orders) // 2 :]
    _feed(job, "1.txt", first)
    run.wait_for(0.5 * 0.9)
    _wait_until_still(run)
    run.checkpoint(job)
    _feed(job, "2.txt", second)
    run.wait_for(step.at)
    (name,) = run.cluster.taskmanagers
    killed_ns = run.cluster.kill_taskmanager(name)
    run.died(killed_ns)
    _feed(job, "2.txt", second[::-1])
    run.cluster.start_taskmanager()
    run.wait_until_running()


def _feed(job: JobRun, name: str, orders: list[dict[str, Any]]) -> None:
    hidden = job.inputs / f".{name}"
    hidden.write_text(as_lines(orders), encoding="utf-8")
    hidden.replace(job.inputs / name)


_PERFORMERS: Mapping[type[Any], Callable[[ScenarioRun, Any], None]] = {
    BrokerAway: _broker_away,
    Crash: _crash,
    Inject: _inject,
    Kill: _kill,
    Orphan: _orphan,
    KillWhileBrokerSilent: _kill_while_broker_silent,
    Reject: _reject,
    Reorder: _reorder,
    RestartJobManager: _restart_jobmanager,
    Resume: _resume,
    Zombie: _zombie,
}
