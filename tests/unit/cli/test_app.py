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
_AGENTS = """\
agents:
  - name: desk
    actions:
      - function: operator:add
        events: [InputEvent]
"""


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


def test_check_says_that_all_is_well(tmp_path: Path) -> None:
    """Status 0, whatever the number of files."""
    file = tmp_path / "agents.yaml"
    file.write_text(_AGENTS, encoding="utf-8")

    result = CliRunner().invoke(cli.app, ["check", str(file), str(file)])

    assert (result.exit_code, result.output) == (0, "no problems in 2 files.\n")


def test_check_prints_each_problem_with_its_place(tmp_path: Path) -> None:
    """Status 1, a line for each, and their number [R2]."""
    file = tmp_path / "agents.yaml"
    file.write_text(_AGENTS.replace("add", "ad") + "colour: red\n", encoding="utf-8")

    result = CliRunner().invoke(cli.app, ["check", str(file)])

    assert (result.exit_code, result.output.splitlines()) == (
        1,
        [
            f"{file}:4:19: the module 'operator' has no 'ad'; did you mean 'add'?",
            f"{file}:6:1: the file has no key 'colour'; it has chat_model_connections, chat_models, tools, prompts, resources, subagents, options, agents",
            "2 problems in 1 file.",
        ],
    )


def test_check_finds_modules_of_the_current_folder(tmp_path: Path) -> None:
    """As `python -m` does, and as a job that is started there [R2]."""
    (tmp_path / "mine.py").write_text("def act(event, ctx): pass\n", encoding="utf-8")
    (tmp_path / "agents.yaml").write_text(_AGENTS.replace("operator:add", "mine:act"), encoding="utf-8")
    code = "from flink_agents_subagent.cli.__main__ import run; run()"

    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", "-c", code, "check", "agents.yaml"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(_ROOT)},
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "no problems in 1 file.\n", "")


def test_check_needs_a_file() -> None:
    """One that is not there is named, with status 2 as for any wrong argument."""
    result = CliRunner().invoke(cli.app, ["check", "gone.yaml"])

    assert result.exit_code == 2
    assert "gone.yaml" in result.output


def test_schema_prints_the_schema_of_the_package() -> None:
    """What it prints is the file [R1]."""
    file = _ROOT / "flink_agents_subagent" / "schema" / "agent.schema.json"

    assert CliRunner().invoke(cli.app, ["schema"]).output == file.read_text(encoding="utf-8")


def test_jar_prints_what_java_is_compiled_against() -> None:
    """One line, the path of the jar in this package [B1]."""
    file = _ROOT / "flink_agents_subagent" / "lib" / "flink-agents-subagent.jar"

    assert CliRunner().invoke(cli.app, ["jar"]).output == f"{file}\n"


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
