"""Submission to a standalone cluster: by `flink run -py` and by running the script, with the package shipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.processes import HarnessError
from e2e.harness.sinks import committed_lines

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = Path(__file__).with_name("jobs") / "shipped.py"
_HELPER = "def double(number):\n    return 2 * number\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    """A cluster of one TaskManager, used by all jobs of this module, which does not try a failing job again."""
    settings = ClusterSettings(options={"restart-strategy.type": "none"})
    with FlinkCluster(tmp_path_factory.mktemp("cluster"), settings) as running:
        yield running


def shipped(folder: Path) -> Path:
    """Return a folder with this package, as it is shipped when it is not installed, and the script's helper."""
    files = folder / "files"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(_ROOT / "flink_agents_subagent", files / "flink_agents_subagent", ignore=ignored)
    (files / "shipped_helper.py").write_text(_HELPER, encoding="ascii")
    return files


def test_flink_run_ships_package_and_helper(cluster: FlinkCluster, tmp_path: Path) -> None:
    """`flink run -pyfs … -py` needs neither our package nor the script's modules in the cluster [P2, P9]."""
    output = tmp_path / "output"

    job = cluster.submit(_SCRIPT, str(output), python_files=[shipped(tmp_path)])

    cluster.wait_for_status(job, "FINISHED", within_s=90)
    assert sorted(committed_lines(output)) == ["2", "4", "6", "8"]


def test_a_script_ships_its_own_files(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A second job on the same TaskManager, submitted by running its script, ships by `add_python_file` [P1, P2]."""
    output = tmp_path / "output"

    job = cluster.submit_from_python(_SCRIPT, str(output), str(shipped(tmp_path)))

    cluster.wait_for_status(job, "FINISHED", within_s=90)
    assert sorted(committed_lines(output)) == ["2", "4", "6", "8"]


def test_a_missing_module_is_named_with_the_remedy(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A module that only the submitting machine has fails the job at its start, with interpreter and remedy [P2]."""
    # Another name than in the jobs before, whose modules the process still knows.
    (tmp_path / "local_helper.py").write_text(_HELPER, encoding="ascii")
    source = _SCRIPT.read_text(encoding="utf-8").replace("shipped_helper", "local_helper")
    source = source.replace("import sys\n", f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n")
    script = tmp_path / "script.py"
    script.write_text(source, encoding="utf-8")
    job = cluster.submit(script, str(tmp_path / "output"), python_files=[shipped(tmp_path)])

    with pytest.raises(
        HarnessError, match=r"No module named 'local_helper'\. Install it there, or ship it with python\.files"
    ):
        cluster.wait_for_status(job, "FINISHED", within_s=90)


def test_another_version_of_a_shipped_module_is_refused(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A job that ships other code under a name that the TaskManager has loaded fails at its start, with both paths [P1]."""
    script = tmp_path / "script.py"
    script.write_text(
        _SCRIPT.read_text(encoding="utf-8").replace("shipped_helper", "versioned_helper"), encoding="utf-8"
    )
    files = shipped(tmp_path)
    (files / "shipped_helper.py").rename(files / "versioned_helper.py")
    first = cluster.submit(script, str(tmp_path / "first"), python_files=[files])
    cluster.wait_for_status(first, "FINISHED", within_s=90)
    (files / "versioned_helper.py").write_text(_HELPER.replace("2", "3"), encoding="ascii")

    second = cluster.submit(script, str(tmp_path / "second"), python_files=[files])

    with pytest.raises(
        HarnessError, match=r"another job of this TaskManager uses versioned_helper from .*python-dist-"
    ):
        cluster.wait_for_status(second, "FINISHED", within_s=90)
