from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.processes import HarnessError, ManagedProcess, wait_until
from e2e.harness.sinks import committed_lines

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_ROOT = Path(__file__).resolve().parents[2]
_COUNT = Path(__file__).with_name("jobs") / "count.py"
_FOREVER = "1000000000"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    """A cluster of one TaskManager with two slots."""
    with FlinkCluster(tmp_path_factory.mktemp("cluster"), ClusterSettings(slots=2)) as running:
        yield running


def test_a_job_survives_the_death_of_its_taskmanager(cluster: FlinkCluster, tmp_path: Path) -> None:
    """After kill −9 and a new TaskManager a job goes on from its last checkpoint; the sink has every number once."""
    job = cluster.submit(_COUNT, str(tmp_path), "1000", "250")
    cluster.wait_for_checkpoints(job, 2, within_s=60)
    before = [task.deployed_ms for task in cluster.rest.subtasks(job)]

    cluster.kill_taskmanager(cluster.taskmanagers[0])
    cluster.start_taskmanager()
    cluster.wait_until_running(job, within_s=60)
    after = [task.deployed_ms for task in cluster.rest.subtasks(job)]
    cluster.wait_for_status(job, "FINISHED", within_s=60)

    assert cluster.rest.checkpoints(job).restored == 1
    assert min(after) > max(before)
    assert Counter(committed_lines(tmp_path)) == Counter(str(number) for number in range(1000))


def test_a_script_submits_itself(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A job script run by Python finds the cluster, and its job can be cancelled."""
    job = cluster.submit_from_python(_COUNT, str(tmp_path), "100000", "10")
    cluster.wait_until_running(job, within_s=60)

    cluster.rest.cancel(job)

    cluster.wait_for_status(job, "CANCELED", within_s=60)


def test_a_second_taskmanager_takes_part(cluster: FlinkCluster) -> None:
    """TaskManagers can be added, and an orderly end takes one out of the cluster."""
    name = cluster.start_taskmanager()
    cluster.wait_for_taskmanager(name)
    assert name in cluster.taskmanagers

    cluster.stop_taskmanager(name)

    wait_until(lambda: name not in cluster.rest.taskmanagers(), "the JobManager lets it go", 60)
    assert name not in cluster.taskmanagers


def test_waiting_for_a_job_that_ends_otherwise_says_so(cluster: FlinkCluster, tmp_path: Path) -> None:
    """Waiting for a status that the job can no longer reach ends at once, with the status that it has."""
    job = cluster.submit(_COUNT, str(tmp_path), "1", "100")

    with pytest.raises(HarnessError, match="is FINISHED instead of CANCELED"):
        cluster.wait_for_status(job, "CANCELED", within_s=60)


def test_a_script_that_fails_is_quoted(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A script that raises before it submits is reported with what it said."""
    script = tmp_path / "broken.py"
    script.write_text("raise SystemExit('no such luck')", encoding="ascii")

    with pytest.raises(HarnessError, match="no such luck"):
        cluster.submit(script)


def test_a_dead_jobmanager_is_noticed(tmp_path: Path) -> None:
    """A cluster that cannot start says so with the log of what failed, and leaves nothing behind."""
    settings = ClusterSettings(options={"jobmanager.memory.process.size": "1m"})
    cluster = FlinkCluster(tmp_path, settings)

    with pytest.raises(HarnessError, match=r"JobManager ended with status(?s:.*)memory"), cluster:
        pytest.fail("it must not start")

    assert _processes_below(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_cluster_completely(number: signal.Signals, tmp_path: Path) -> None:
    """After Ctrl-C or kill in the middle of a start no process is left, and the folder is gone."""
    code = (
        "from e2e.harness.cluster import *; from e2e.harness.processes import *; from e2e.harness.signals import *\n"
        "with stop_on_signals(), temporary_folder('cluster-') as folder, FlinkCluster(folder): input()"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(_ROOT)}
    owner = ManagedProcess("owner", [sys.executable, "-c", code], tmp_path / "log", env=environment)
    wait_until(lambda: len(_processes_below(tmp_path)) == 2, "both JVMs start", 60, [owner])

    os.kill(owner.pid, number)
    status = owner.wait(60)

    assert status in (-number, 128 + number)
    # A grandchild that was killed is reaped by another process, which takes a moment.
    wait_until(lambda: not _processes_below(tmp_path), "nothing is left", 30)
    assert list(tmp_path.glob("cluster-*")) == []


def _processes_below(folder: Path) -> list[str]:
    """Return the Java processes that work in a folder."""
    listing = subprocess.run(["ps", "-eww", "-o", "pid=,args="], capture_output=True, text=True, check=True)  # noqa: S607
    return [line for line in listing.stdout.splitlines() if str(folder) in line and "org.apache.flink" in line]
