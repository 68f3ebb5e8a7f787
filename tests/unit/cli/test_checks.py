"""The checks of `doctor`: what they find, and the remedy."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent.cli.checks import (
    check_cluster,
    check_executable,
    check_jar,
    check_java,
    check_package,
    check_python,
)


@pytest.mark.parametrize(("version", "is_ok"), [((3, 9), False), ((3, 10), True), ((3, 12), True), ((3, 13), False)])
def test_pythons_with_wheels_of_pemja_are_fine(version: tuple[int, int], is_ok: bool) -> None:
    """The range is that of the package."""
    check = check_python(version)

    assert check.is_ok is is_ok
    assert "3.10 to 3.12" in check.remedy


@pytest.mark.parametrize(
    ("package", "wanted", "is_ok"),
    [("pydantic", "2.", True), ("pydantic", "99.", False), ("no-such-package", "", False)],
)
def test_packages_are_found_by_version(package: str, wanted: str, is_ok: bool) -> None:
    """A missing package and a version that does not fit are told apart from one that does [P2]."""
    check = check_package(package, wanted)

    assert check.is_ok is is_ok
    assert "pip install 'flink-agents-subagent'" in check.remedy


@pytest.mark.parametrize(
    ("answer", "is_ok", "found"),
    [
        ('openjdk version "17.0.15" 2025-04-15', True, "17 at"),
        ('java version "21" 2023-09-19 LTS', True, "21 at"),
        ('openjdk version "11.0.2" 2019-01-15', False, "11 at"),
        ('java version "1.8.0_352"', False, "8 at"),
        ("nonsense", False, "answered 'nonsense'"),
    ],
)
def test_java_versions(answer: str, is_ok: bool, found: str) -> None:
    """Old and new ways to write a version are understood; the remedy names JAVA_HOME."""
    check = check_java({"JAVA_HOME": "/jdk"}, lambda java: answer)

    assert check.is_ok is is_ok
    assert found in check.found
    assert "JAVA_HOME" in check.remedy


@pytest.mark.parametrize("error", [FileNotFoundError("no such file"), subprocess.TimeoutExpired("java", 30)])
def test_a_java_that_does_not_run_is_named(error: Exception) -> None:
    """The path is in the finding."""

    def run(java: str) -> str:
        raise error

    assert check_java({"JAVA_HOME": "/jdk"}, run).found.startswith("/jdk/bin/java cannot be run")


def test_no_java_at_all_is_said() -> None:
    """Without JAVA_HOME the one on PATH counts."""
    assert check_java({"PATH": ""}).found == "no java on PATH, and JAVA_HOME is not set"


def jar_of(folder: Path, content: str | None) -> Path:
    """Make a jar as Maven does."""
    jar = folder / "x.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "")
        if content is not None:
            archive.writestr("META-INF/maven/g/a/pom.properties", content)
    return jar


@pytest.mark.parametrize(
    ("content", "version", "is_ok"),
    [
        ("artifactId=a\nversion=0.1.0\n", "0.1.0", True),
        ("version=0.1.0", None, True),
        ("version=0.0.9", "0.1.0", False),
        (None, "0.1.0", False),
    ],
)
def test_a_jar_of_another_release_is_found(
    tmp_path: Path, content: str | None, version: str | None, is_ok: bool
) -> None:
    """The versions that Maven and pip know are compared [P6]."""
    assert check_jar(jar_of(tmp_path, content), version).is_ok is is_ok


def test_a_missing_or_broken_jar_is_found(tmp_path: Path) -> None:
    """A file that is no archive has no version; a missing one names the command that builds it."""
    broken = tmp_path / "broken.jar"
    broken.write_text("x", encoding="ascii")

    assert not check_jar(broken, "0.1.0").is_ok
    assert "make jar" in check_jar(tmp_path / "gone.jar", "0.1.0").remedy


@pytest.mark.parametrize(
    ("configuration", "jar", "is_ok"),
    [
        ("classloader.parent-first-patterns.additional: pemja.\n", "flink-python-2.3.0.jar", [True, True]),
        (
            "classloader:\n  parent-first-patterns:\n    additional: org.acme.;pemja.\n",
            "flink-python-2.3.0.jar",
            [True, True],
        ),
        ("classloader.parent-first-patterns.additional: org.acme.\n", "other.jar", [False, False]),
        ("", "other.jar", [False, False]),
    ],
)
def test_a_session_cluster_shares_pemja(tmp_path: Path, configuration: str, jar: str, is_ok: list[bool]) -> None:
    """Both settings of a session cluster are looked for, in dotted and in nested files [P1]."""
    (tmp_path / "config.yaml").write_text(configuration, encoding="ascii")
    (tmp_path / jar).touch()

    checks = list(check_cluster(tmp_path / "config.yaml", tmp_path))

    assert [check.is_ok for check in checks[:2]] == is_ok


@pytest.mark.parametrize(("answer", "is_ok"), [("3.11\n", True), ("3.12\n", False)])
def test_the_taskmanagers_python_has_our_minor_version(answer: str, is_ok: bool) -> None:
    """Another minor version cannot read the plan [P2, E4.8]."""
    check = check_executable({"python.executable": "/env/bin/python"}, (3, 11), lambda executable: answer)

    assert check.is_ok is is_ok
    assert check.found == f"/env/bin/python is Python {answer.strip()}"
    assert "set `python.executable` to the absolute path of a Python 3.11" in check.remedy


def test_a_python_that_does_not_run_is_named() -> None:
    """The path is in the finding [P2]."""

    def run(executable: str) -> Any:
        raise FileNotFoundError(executable)

    assert check_executable({"python.executable": "/gone"}, (3, 11), run).found.startswith("/gone cannot be run")
