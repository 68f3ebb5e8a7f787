"""The command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flink_agents_subagent.cli import app as cli
from flink_agents_subagent.cli.checks import Check
from flink_agents_subagent.options import render_options

_ROOT = Path(__file__).parents[3]


def doctor(monkeypatch: pytest.MonkeyPatch, *checks: Check) -> tuple[int, str]:
    """Run `doctor` with these findings."""

    def found() -> Iterator[Check]:
        yield from checks

    monkeypatch.setattr(cli, "check_here", found)
    result = CliRunner().invoke(cli.app, ["doctor"])
    return result.exit_code, result.output


def test_doctor_says_that_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 0, and no remedies."""
    status, output = doctor(monkeypatch, Check("Java", True, "17", "install a JDK"))

    assert (status, "Everything is in place." in output, "install" in output) == (0, True, False)


def test_doctor_ends_with_the_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 1, and what to do for each failed check only."""
    status, output = doctor(
        monkeypatch, Check("Java", False, "8", "install a JDK"), Check("pemja", True, "0.5.7", "pip")
    )

    assert (status, "Java: install a JDK" in output, "pip" in output, "1 of 2 checks failed." in output) == (
        1,
        True,
        False,
        True,
    )


def test_options_prints_the_documentation() -> None:
    """What it prints is docs/options.md."""
    assert CliRunner().invoke(cli.app, ["options"]).output == render_options()


def test_a_missing_extra_is_named() -> None:
    """Without its libraries the command says what to install instead of showing a traceback."""
    code = "import sys; sys.modules['typer'] = None\nfrom flink_agents_subagent.cli.__main__ import run\nrun()"

    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(_ROOT)}
    )

    assert (done.returncode, done.stderr) == (
        1,
        "the command line needs typer: pip install 'flink-agents-subagent[cli]'\n",
    )
