"""Modules of several jobs in one process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flink_agents_subagent._flink.shipped import refuse_other_versions
from flink_agents_subagent.errors import DefinitionError

Ship = Callable[[str, str, str], Path]


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ship:
    """Unpack a module for a job as Flink does, and put it on the search path."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def unpack(job: str, module: str, source: str) -> Path:
        folder = tmp_path / job / "python-files" / "archive"
        folder.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source)
        sys.path.insert(0, str(folder))
        return tmp_path / job

    yield unpack
    for name in [name for name in sys.modules if name.startswith("shipped_")]:
        del sys.modules[name]


def test_another_version_of_a_loaded_module_is_refused(ship: Ship) -> None:
    """A job that ships other code under a loaded name is told both paths and the remedy [P1]."""
    first = ship("first", "shipped_a", "VALUE = 1")
    refuse_other_versions(str(first))
    importlib.import_module("shipped_a")
    second = ship("second", "shipped_a", "VALUE = 2")

    with pytest.raises(DefinitionError) as raised:
        refuse_other_versions(str(second))

    assert "shipped_a" in str(raised.value)
    assert str(first) in str(raised.value)
    assert str(second) in str(raised.value)
    assert "different TaskManagers" in str(raised.value)


def test_the_same_code_in_another_folder_is_the_same_version(ship: Ship) -> None:
    """An attempt that unpacks the job's files anew goes on with the loaded modules [P1, P3]."""
    first = ship("first", "shipped_b", "VALUE = 1")
    refuse_other_versions(str(first))
    importlib.import_module("shipped_b")

    refuse_other_versions(str(ship("second", "shipped_b", "VALUE = 1")))


def test_another_version_is_refused_while_the_first_could_still_be_imported(ship: Ship) -> None:
    """A module that was shipped and not imported yet is in the way too: it stands on the search path [P1]."""
    refuse_other_versions(str(ship("first", "shipped_c", "VALUE = 1")))

    with pytest.raises(DefinitionError, match="shipped_c"):
        refuse_other_versions(str(ship("second", "shipped_c", "VALUE = 2")))


def test_files_that_are_gone_and_were_never_imported_are_forgotten(ship: Ship) -> None:
    """After the first job's files were removed, another version may come [P1]."""
    first = ship("first", "shipped_d", "VALUE = 1")
    refuse_other_versions(str(first))
    (first / "python-files" / "archive" / "shipped_d.py").unlink()

    refuse_other_versions(str(ship("second", "shipped_d", "VALUE = 2")))


def test_a_job_without_files_passes(tmp_path: Path) -> None:
    """A folder that does not exist has nothing to refuse [P1]."""
    refuse_other_versions(str(tmp_path / "none"))
