"""One process for many: subtasks, jobs and restarts share a TaskManager."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from tests.flink.agents import Scripted
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until

pytestmark = pytest.mark.flink

_RESTARTS = 20
_HOSTS_LEFT = 3
_COLLECTIONS = 5


def test_two_jobs_with_several_subtasks_share_a_task_manager(
    cluster: MiniCluster, board: Board, tmp_path: Path
) -> None:
    """Each subtask of each job has its own engine: memory and journals do not mix [P1, S1.6]."""
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folders.append(Folder(tmp_path / name))
        folders[-1].feed(
            *({"key": f"k{n % 5}", "id": n, "do": [["count", None], ["call", f"{name} {n}"]]} for n in range(10))
        )
    jobs = [Job.run(cluster, folder, Scripted(), 3) for folder in folders]

    outputs = [job.commit(folder, 20) for job, folder in zip(jobs, folders, strict=True)]
    for job in jobs:
        job.cancel()

    for name, found in zip(("one", "two"), outputs, strict=True):
        assert found == sorted(
            text for n in range(10) for text in (f"k{n % 5} {n} count {n // 5 + 1}", f"k{n % 5} {n} {name} {n}=ok")
        )


def test_twenty_restarts_leave_nothing(cluster: MiniCluster, board: Board, folder: Folder) -> None:
    """Restarts with calls that wait on the loop and on threads leave as many threads and objects as there were [P3, PF9]."""
    board.hold("parked")
    folder.feed(
        *({"key": f"c{n}", "id": n, "do": [["call", "parked"]]} for n in range(5)),
        *({"key": f"t{n}", "id": n, "do": [["block", "parked"]]} for n in range(5)),
    )
    job = Job.run(cluster, folder, Scripted())
    board.wait_asked("parked", 10)
    job.checkpoint()
    threads: list[int] = []
    for restart in range(1, _RESTARTS + 1):
        board.answer("poison", "fail")
        folder.feed({"key": "poison", "id": restart, "do": [["fail_if_told", "poison"]]})
        board.wait_asked("parked", 10 * (restart + 1))
        # Calls of attempts that have ended hold their threads until they are answered.
        board.release_first("parked", 10 * restart)
        until(
            lambda: cluster.threads("agent-call") == 5 and cluster.threads("agent-loop") == 1, "the end of old threads"
        )
        threads.append(cluster.threads())
    hosts = _fewest(cluster, "operator.EngineHost", _HOSTS_LEFT)
    tasks = _fewest(cluster, "operator.AgentTask", 1)
    job.cancel()
    board.release("parked")

    # Flink's own threads come and go.
    assert statistics.median(threads[_RESTARTS // 2 :]) <= statistics.median(threads[: _RESTARTS // 2]) + 2
    # Of the attempt before, and of a job before, a host is left for Python's collector; it is without its task.
    assert hosts <= _HOSTS_LEFT
    assert tasks == 1


def _fewest(cluster: MiniCluster, name: str, enough: int) -> int:
    """Return how many objects a few collections leave: what has a finalizer goes with a later one."""
    found = cluster.objects(name)
    for _ in range(_COLLECTIONS):
        if found <= enough:
            break
        found = cluster.objects(name)
    return found
