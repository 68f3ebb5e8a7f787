"""What a submission takes along."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flink_agents_subagent import DefinitionError
from flink_agents_subagent._flink.jar import JAR
from flink_agents_subagent._flink.shipping import add_jar, check_java


def test_a_missing_jar_names_the_command_that_builds_it(tmp_path: Path) -> None:
    """A source tree without the Java half says `make jar`, an installed package what to do instead."""
    missing = tmp_path / "gone.jar"

    with pytest.raises(DefinitionError, match=rf"missing: {re.escape(str(missing))}.*`make jar`.*from a wheel"):
        add_jar(SimpleNamespace(), missing)


def test_the_jar_is_added_as_an_address(tmp_path: Path) -> None:
    """Flink takes jars by URL, blanks included; by default the one inside the package."""
    jar = tmp_path / "a b.jar"
    jar.touch()
    added: list[Any] = []

    add_jar(SimpleNamespace(add_jars=added.append), jar)

    assert added == [jar.as_uri()]
    assert JAR.parts[-3:] == ("flink_agents_subagent", "lib", "flink-agents-subagent.jar")


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_a_java_that_is_too_old_is_refused_with_the_remedy(version: str) -> None:
    """The message has the version found, the one needed, and where to set it [P6]."""
    with pytest.raises(DefinitionError, match=rf"version {re.escape(version)}, .* needs 17 .*JAVA_HOME"):
        check_java(version)


@pytest.mark.parametrize("version", ["17", "21"])
def test_a_java_that_can_load_the_java_half_is_taken(version: str) -> None:
    """Nothing is said about a Java that works [P6]."""
    check_java(version)
