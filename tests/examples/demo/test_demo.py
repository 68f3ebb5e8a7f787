from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.harness.processes import ManagedProcess, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_ROOT = Path(__file__).resolve().parents[3]


def _start(folder: Path, *options: str) -> ManagedProcess:
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "examples.demo", *options]
    return ManagedProcess("demo", command, folder / "demo.log", env=environment)


def _processes_below(folder: Path) -> list[str]:
    listing = subprocess.run(["ps", "-eww", "-o", "pid=,args="], capture_output=True, text=True, check=True)  # noqa: S607
    return [line for line in listing.stdout.splitlines() if str(folder) in line]


def test_two_deaths_lose_and_repeat_nothing(tmp_path: Path) -> None:
    """Killed soon after its start and again near its end, the job gives every output once and repeats no recorded call.

    [E1.9, E3.1, E4.4, E4.5, E6.2, S1.1, S3.1]
    """
    demo = _start(tmp_path, "--kill-at", "0.05", "0.8", "--per-second", "250")

    status = demo.wait(240)

    assert status == 0, demo.log_tail(60)
    assert "Everything holds." in demo.log_tail()
    assert [path.name for path in tmp_path.iterdir()] == ["demo.log"]


def test_ctrl_c_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    """Interrupted while the job runs, the demo ends its processes and removes its folder."""
    demo = _start(tmp_path, "--kill-at", "0.9")
    wait_until(lambda: "checkpoints" in demo.log_tail(), "the job makes progress", 120)

    os.kill(demo.pid, signal.SIGINT)
    status = demo.wait(60)

    assert status == 130
    assert "everything that was started is gone" in demo.log_tail()
    wait_until(lambda: not _processes_below(tmp_path), "nothing is left", 30)
    assert [path.name for path in tmp_path.iterdir()] == ["demo.log"]
