from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from e2e.harness.processes import ManagedProcess

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

_ROOT = Path(__file__).resolve().parents[3]


def test_a_death_between_two_topics_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Keyed by the keys of its messages, a killed job commits every output once, repeats no recorded call and has no worker process.

    [P7, P8, E1.9, E4.4, E6.2, S1.1, S2.1, S2.6]
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "examples.kafka_to_kafka", "--flights", "1500", "--checkpoint-ms", "500"]
    run = ManagedProcess("kafka_to_kafka", command, tmp_path / "run.log", env=environment)

    status = run.wait(350)

    assert status == 0, run.log_tail(60)
    assert "Everything holds." in run.log_tail()
    assert "checkpoints restored: 1" in run.log_tail(60)
    assert [path.name for path in tmp_path.iterdir()] == ["run.log"]
