"""PF7: what the recovery of recorded calls takes on top of Flink's restart.

A TaskManager of a real cluster is killed with -9 when the calls are recorded and no checkpoint has them, and another one is
started. The same job, killed in the same way with a single call on record, says how much of that a restart takes anyway.
Our own work is by how much longer the operator takes to open, the tail read, and then the replay of the runs.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from bench.protocol import hand_in, sizes, take_left
from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.processes import wait_until

_JOB = Path(__file__).with_name("recovered_job.py")
_ROOT = Path(__file__).resolve().parents[2]
_OPTIONS = {
    # A checkpoint is taken when it is asked for.
    "execution.checkpointing.interval": "1 h",
    "metrics.fetcher.update-interval": "100",
}
_CALLS_S = 120
_RESTART_S = 90
_METRICS_S = 60


def main(runs: int, calls: int) -> None:
    """Measure one call on record, then all of them, behind one that warms up what is not killed."""
    settings = ClusterSettings(python_path=[_ROOT], options=_OPTIONS)
    with tempfile.TemporaryDirectory() as folder, FlinkCluster(Path(folder), settings) as cluster:
        _, one, many = (_recovery(cluster, *size) for size in ((1, 2), (1, 1), (runs, calls)))
    figures = {f"{name}_{of}": value for of, taken in (("one", one), ("all", many)) for name, value in taken.items()}
    own_s = many["open_s"] - one["open_s"] + many["replay_s"]
    beyond_one_s = many["recovery_s"] - one["recovery_s"]
    hand_in({"calls": runs * calls, "own_s": own_s, "beyond_one_s": beyond_one_s} | figures)


def _recovery(cluster: FlinkCluster, runs: int, calls: int) -> dict[str, float]:
    """Have so many calls recorded, kill the TaskManager and return how long it takes until all runs are where they were."""
    inputs = cluster.folder / f"inputs-{runs}-{calls}"
    inputs.mkdir()
    job = cluster.submit(_JOB, str(inputs), str(runs), str(calls))
    cluster.wait_until_running(job, within_s=_RESTART_S)
    cluster.rest.checkpoint(job)
    cluster.wait_for_checkpoints(job, 1, within_s=60)
    hidden = inputs / ".orders"
    hidden.write_text("".join(json.dumps({"key": f"k{number}"}) + "\n" for number in range(runs)), encoding="utf-8")
    hidden.rename(inputs / "orders.txt")
    wait_until(take_left, f"{runs * calls} calls are recorded", _CALLS_S)
    (taskmanager,) = cluster.taskmanagers
    killed_ns = cluster.kill_taskmanager(taskmanager)
    cluster.start_taskmanager()
    after = wait_until(take_left, f"{runs} runs are recovered", _RESTART_S)
    if after["calls_made"]:
        raise RuntimeError(f"{after['calls_made']} calls were made again")
    deployed_s = min(subtask.deployed_ms for subtask in cluster.rest.subtasks(job)) / 1000
    # Those of the attempt before, which had no tail, may still be told.
    wait_until(lambda: cluster.rest.metric(job, "recovered_records"), "the new attempt tells its metrics", _METRICS_S)
    figures = {
        "open_s": (cluster.rest.metric(job, "recovery_ms") or 0.0) / 1000,
        # Until when is told by the TaskManager, both on the clock of this machine.
        "recovery_s": after["all_resumed_at"] - deployed_s,
        "replay_s": after["all_resumed_at"] - after["began_at"],
        "restart_s": after["all_resumed_at"] - _wall_s(killed_ns),
    }
    cluster.rest.cancel(job)
    cluster.wait_for_status(job, "CANCELED", within_s=60)
    return figures


def _wall_s(monotonic_ns: int) -> float:
    """Return the moment in seconds since 1970."""
    return time.time() - (time.monotonic_ns() - monotonic_ns) / 1e9


if __name__ == "__main__":
    main(**sizes())
