"""Failure, restart, rescale: what a job remembers, and what it does again."""

from __future__ import annotations

import pytest

from tests.flink.agents import Delegating, Scripted
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until

pytestmark = pytest.mark.flink


def _fail(board: Board, folder: Folder, job: Job) -> None:
    """Let an action of another key fail the job, once."""
    restarts = job.restarts()
    board.answer("poison", "fail")
    folder.feed({"key": "poison", "id": 0, "do": [["fail_if_told", "poison"]]})
    until(lambda: job.restarts() > restarts, "a restart")


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_recorded_calls_are_not_repeated_after_a_failure(
    cluster: MiniCluster, board: Board, folder: Folder, backend: str
) -> None:
    """A run that waits for its third call at the checkpoint repeats neither calls nor outputs after it [E4.1, E4.2, E4.5, E1.9]."""
    first, second, third = (f"{backend} {name}" for name in ("first", "second", "third"))
    board.hold(third)
    folder.feed({"key": "a", "id": 1, "do": [["call", first], ["block", second], ["count", None], ["call", third]]})
    job = Job.run(cluster, folder, Scripted(), state_backend_type=backend)
    board.wait_asked(third)
    job.checkpoint()

    _fail(board, folder, job)
    board.wait_asked(third, 2)
    board.release(third)
    outputs = job.commit(folder, 4)
    job.cancel()

    assert outputs == ["a 1 count 1", f"a 1 {first}=ok", f"a 1 {second}=ok", f"a 1 {third}=ok"]
    assert [board.asked(name) for name in (first, second, third)] == [1, 1, 2]


def test_calls_recorded_after_the_checkpoint_are_not_repeated(
    cluster: MiniCluster, board: Board, folder: Folder
) -> None:
    """A call whose outcome only the store holds is not made again; its memory is written once [E4.3, E4.4, S1.1, S3.1, E6.2]."""
    board.hold("late third")
    job = Job.run(cluster, folder, Scripted())
    folder.feed({"key": "a", "id": 1, "do": [["count", None]]})
    assert job.commit(folder, 1) == ["a 1 count 1"]
    folder.feed({"key": "a", "id": 2, "do": [["count", None], ["call", "late first"], ["call", "late second"]]})
    folder.feed({"key": "b", "id": 3, "do": [["call", "late third"]]})
    board.wait_asked("late second")
    board.wait_asked("late third")

    _fail(board, folder, job)
    board.wait_asked("late third", 2)
    board.release("late third")
    outputs = job.commit(folder, 5)
    job.cancel()

    assert outputs == [
        "a 1 count 1",
        "a 2 count 2",
        "a 2 late first=ok",
        "a 2 late second=ok",
        "b 3 late third=ok",
    ]
    assert board.asked("late first") == 1


def test_a_child_that_waits_for_its_third_call_goes_on_after_a_failure(
    cluster: MiniCluster, board: Board, folder: Folder
) -> None:
    """Its first two calls are not made again, one before and one after the checkpoint; its memory is what it was [N2, N3, E4.3, E4.5]."""
    first, second, third = (f"child {name}" for name in ("first", "second", "third"))
    board.hold(second)
    board.hold(third)
    folder.feed(
        {
            "key": "a",
            "id": 1,
            "do": [["delegate", [["call", first], ["block", second], ["call", third]]], ["emit", "end"]],
        }
    )
    job = Job.run(cluster, folder, Delegating())
    board.wait_asked(second)
    job.checkpoint()
    board.release(second)
    board.wait_asked(third)

    _fail(board, folder, job)
    board.wait_asked(third, 2)
    board.release(third)
    outputs = job.commit(folder, 5)
    job.cancel()

    assert outputs == [
        "a 1 end",
        f"child: a 1 {first}=ok",
        f"child: a 1 {second}=ok",
        f"child: a 1 {third}=ok",
        f"child: a 1 remembers {[first, second, third]}",
    ]
    assert [board.asked(name) for name in (first, second, third)] == [1, 1, 2]


def test_a_sleep_goes_on_after_a_failure(cluster: MiniCluster, board: Board, folder: Folder) -> None:
    """A timer that is pending at the failure is set again and fires once [E2.3, E4.1]."""
    folder.feed({"key": "a", "id": 1, "do": [["call", "before sleep"], ["sleep", 1.0], ["emit", "awake"]]})
    job = Job.run(cluster, folder, Scripted())
    board.wait_asked("before sleep")
    job.checkpoint()

    _fail(board, folder, job)
    outputs = job.commit(folder, 3)
    job.cancel()

    assert outputs == ["a 1 awake", "a 1 before sleep=ok", "a 1 slept"]
    assert board.asked("before sleep") == 1


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1)])
def test_the_parallelism_changes_with_calls_in_flight(
    cluster: MiniCluster, board: Board, folder: Folder, before: int, after: int
) -> None:
    """Stopped with a savepoint and resumed at another parallelism, every run goes on where it was [E4.7, E4.8, E5.1]."""
    names = [f"{before} to {after}, {number}" for number in range(12)]
    for name in names:
        board.hold(f"held {name}")
    folder.feed(
        *({"key": name, "id": 1, "do": [["call", f"made {name}"], ["call", f"held {name}"]]} for name in names),
        *({"key": name, "id": 2, "do": [["count", None]]} for name in names),
    )
    job = Job.run(cluster, folder, Scripted(), before)
    for name in names:
        board.wait_asked(f"held {name}")
    savepoint = job.stop(folder)
    assert job.wait() is None

    job = Job.run(cluster, folder, Scripted(), after, execution_state__recovery_path=savepoint)
    for name in names:
        board.wait_asked(f"held {name}", 2)
        board.release(f"held {name}")
    outputs = job.commit(folder, 36)
    job.cancel()

    assert outputs == sorted(
        f"{name} {text}" for name in names for text in (f"1 made {name}=ok", f"1 held {name}=ok", "2 count 1")
    )
    assert all(board.asked(f"made {name}") == 1 for name in names)
