"""What is in the repository holds on any machine."""

from __future__ import annotations

import re

from tests.architecture.tree import ROOT, named, tracked

_MACHINE_PATH = re.compile(rb"(?<![\w.$}/-])/(?:root|work|home/\w+|Users/\w+)/[\w.]")
_VERSION_IN_PYPROJECT = re.compile(r'^version = "(.+)"$', re.MULTILINE)
_VERSION_IN_POM = re.compile(r"</artifactId>\s*<version>(.+?)</version>")


def test_no_file_names_a_path_of_one_machine() -> None:
    """No tracked file holds an absolute path into somebody's home or working folder."""
    found = [
        named(file, number)
        for file in tracked()
        for number, line in enumerate(file.read_bytes().splitlines(), start=1)
        if _MACHINE_PATH.search(line)
    ]

    assert found == []


def test_both_halves_have_one_version() -> None:
    """The Python package and the Java project carry the same version."""
    python = _VERSION_IN_PYPROJECT.search((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    java = _VERSION_IN_POM.search((ROOT / "java-bridge" / "pom.xml").read_text(encoding="utf-8"))

    assert python is not None
    assert java is not None
    assert python[1] == java[1]
