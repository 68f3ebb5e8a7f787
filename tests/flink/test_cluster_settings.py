"""What a session cluster must be told before it can embed Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.processes import HarnessError

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_SCRIPT = Path(__file__).with_name("jobs") / "one_input.py"
_PARENT_FIRST = "classloader.parent-first-patterns.additional"


def test_a_cluster_without_its_class_loader_setting_is_told_the_remedy(tmp_path: Path) -> None:
    """With flink-python in `lib` and pemja not parent-first, a job fails at its start with what to set [P1]."""
    settings = ClusterSettings(options={"restart-strategy.type": "none", _PARENT_FIRST: "nothing."})
    with FlinkCluster(tmp_path, settings) as cluster:
        job = cluster.submit(_SCRIPT, sys.executable)

        with pytest.raises(HarnessError, match=rf"Put the flink-python jar .*{_PARENT_FIRST}: pemja\."):
            cluster.wait_for_status(job, "FINISHED", within_s=90)
