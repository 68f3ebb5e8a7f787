"""Which Python runs agents: one that is not activated, one that lacks the package, one with another release of it. Fresh processes."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent._flink.entry import PROTOCOL_VERSION

pytestmark = [pytest.mark.flink, pytest.mark.timeout(120)]

_ROOT = Path(__file__).resolve().parents[2]
_JOB = Path(__file__).parent / "jobs" / "one_input.py"


class _Environment:
    """A virtual environment that has pemja and nothing else, until something is put into it."""

    def __init__(self, path: Path) -> None:
        venv.EnvBuilder(with_pip=False, symlinks=True).create(path)
        self.python = path / "bin" / "python"
        self.packages = next(path.glob("lib/python*/site-packages"))
        for pattern in ("pemja*", "find_libpython*"):
            for file in self._installed().glob(pattern):
                (self.packages / file.name).symlink_to(file)

    def put_editable(self, name: str, *folders: Path) -> None:
        """Install folders as `pip install -e` does: by a path file."""
        (self.packages / f"{name}.pth").write_text("".join(f"{folder}\n" for folder in folders))

    def put_dependencies(self) -> None:
        """Make everything that this process has installed importable, too."""
        self.put_editable("dependencies", self._installed())

    def put_module(self, name: str, text: str) -> None:
        """Install a module."""
        (self.packages / f"{name}.py").write_text(text)

    def put_slow_start(self) -> None:
        """Take long to add the folders that follow, so that tasks which start together meet there."""
        (self.packages / "a_slow_start.pth").write_text("import time; time.sleep(1)\n")

    @staticmethod
    def _installed() -> Path:
        return next(Path(folder) for folder in site.getsitepackages() if (Path(folder) / "pemja").is_dir())

    def run(self, folder: Path) -> dict[str, Any]:
        """Run the job with this environment in the TaskManager, which does not have it activated."""
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, str(_JOB), str(self.python)],
            env={**variables, "FLINK_LOG_DIR": str(folder)},
            # The folder of a process is on its module search path.
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


@pytest.fixture
def environment(tmp_path: Path) -> _Environment:
    """An environment of its own."""
    return _Environment(tmp_path / "environment")


def test_an_environment_that_is_not_activated_is_used(environment: _Environment, tmp_path: Path) -> None:
    """Packages of the configured interpreter are found, those of editable installs too, by tasks that start together [P2, P9]."""
    editable = tmp_path / "editable"
    editable.mkdir()
    (editable / "from_the_environment.py").write_text("NAME = 'found'\n")
    environment.put_slow_start()
    environment.put_dependencies()
    environment.put_editable("ours", _ROOT, editable)

    assert environment.run(tmp_path) == {"outputs": ["found"]}


def test_packages_of_an_environment_come_before_those_of_its_python(environment: _Environment, tmp_path: Path) -> None:
    """Another release in the Python that the environment is made of does not hide the one in the environment [P2]."""
    # Most Pythons have it.
    environment.put_module("pip", "NAME = 'of the environment'\n")
    environment.put_module("from_the_environment", "from pip import NAME\n")
    environment.put_dependencies()
    environment.put_editable("ours", _ROOT)

    assert environment.run(tmp_path) == {"outputs": ["of the environment"]}


def test_an_environment_without_the_package_is_named(environment: _Environment, tmp_path: Path) -> None:
    """The failure names the interpreter and what to install [P2]."""
    failure = environment.run(tmp_path)["failure"]

    assert f"{environment.python} (version {sys.version_info.major}.{sys.version_info.minor})" in failure
    assert "has no package flink-agents-subagent. Install it" in failure


def test_another_release_of_the_package_is_named(environment: _Environment, tmp_path: Path) -> None:
    """A package whose functions are not those that the jar calls is refused at the start [P6]."""
    environment.put_dependencies()
    copy = environment.packages / "flink_agents_subagent"
    shutil.copytree(_ROOT / "flink_agents_subagent", copy, ignore=shutil.ignore_patterns("lib", "__pycache__"))
    entry = copy / "_flink" / "entry.py"
    ours = f"PROTOCOL_VERSION = {PROTOCOL_VERSION}"
    assert ours in entry.read_text()
    entry.write_text(entry.read_text().replace(ours, f"PROTOCOL_VERSION = {PROTOCOL_VERSION + 1}"))

    failure = environment.run(tmp_path)["failure"]

    assert "of different releases" in failure
    assert f"the jar expects [{PROTOCOL_VERSION}]" in failure
    assert str(environment.python) in failure
