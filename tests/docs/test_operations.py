"""The tables of docs/ name what there is: metrics, errors, options, contracts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flink_agents_subagent
from flink_agents_subagent import errors
from flink_agents_subagent._engine import metric
from flink_agents_subagent.options import OPTIONS
from tests.docs.pages import ROOT, pages

_OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
_JAVA = ROOT / "java-bridge" / "src" / "main" / "java" / "io" / "github" / "flinkagents" / "subagent" / "operator"
_GUIDES = [file for file in pages() if file.parent.name != "decisions" and file.name != "options.md"]


def _section(heading: str) -> str:
    return _OPERATIONS.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def _first_cells(section: str) -> list[str]:
    return [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def test_every_metric_is_listed_and_no_other() -> None:
    """The engine's and the operator's metrics are those of the table [E7.1]."""
    engine = {value for name, value in vars(metric).items() if name.isupper() and isinstance(value, str)}
    java = "".join(_text(file) for file in _JAVA.glob("*.java"))
    operator = set(re.findall(r'\.(?:gauge|counter|histogram)\(\s*"(\w+)"', java))

    listed = [name for cell in _first_cells(_section("Metrics")) for name in re.findall(r"`(\w+)`", cell)]

    assert sorted(listed) == sorted(engine | operator)


def test_every_error_is_listed_with_its_code() -> None:
    """Class and code of each error stand in the table, and a remedy beside them."""
    listed = dict(re.findall(r"`(\w+Error)` \(`(\w+)`", _section("Error messages")))

    assert listed == {name: getattr(errors, name).code for name in errors.__all__}
    assert set(errors.__all__) <= set(flink_agents_subagent.__all__)


@pytest.mark.parametrize("file", _GUIDES, ids=lambda file: file.name)
def test_options_exist_and_have_the_defaults_that_pages_say(file: Path) -> None:
    """An option that a page names is one; a default in parentheses behind it is its default."""
    text = _text(file)
    prefixes = {name.split(".")[0] + "." for name in OPTIONS if "." in name}
    named = [name for name in re.findall(r"`([a-z]+[a-z.-]*)(?:: [a-z]+)?`", text) if name.startswith(tuple(prefixes))]
    defaults = dict(re.findall(r"`([a-z.-]+)` \((\d[\d,]*(?: (?:MiB|h))?)\b", text))

    families = tuple(name.removesuffix("*") for name in OPTIONS if name.endswith(".*"))
    assert [name for name in named if name not in OPTIONS and not name.startswith(families)] == []
    assert {name: value for name, value in defaults.items() if name in OPTIONS and _default(name) != value} == {}


def _default(name: str) -> str:
    default = OPTIONS[name].default or ""
    return f"{int(default):,}" if default.isdecimal() else default


def test_contracts_that_pages_name_are_pinned() -> None:
    """Each contract id of the README and of the guarantees is named by a test in either language."""
    told = _text(ROOT / "README.md") + _text(ROOT / "docs" / "guarantees.md")
    ids = set(re.findall(r"\b[A-Z]\d+(?:\.\d+)?\b", told))
    folders = [ROOT / "tests", ROOT / "e2e", ROOT / "java-bridge" / "src" / "test"]
    tests = "".join(_text(file) for folder in folders for file in folder.rglob("*") if file.suffix in (".py", ".java"))
    pinned = {one for group in re.findall(r"\[([A-Z]\w*\d[^\]\n]*)\]", tests) for one in re.split(r",\s*", group)}

    assert len(ids) > 25
    assert sorted(ids - pinned) == []
