"""What docs/yaml.md says, beyond its examples."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flink_agents_subagent._descriptor import document
from flink_agents_subagent._descriptor.chat_entry import (
    ChatModelEntry,
    ConnectionEntry,
    MessageEntry,
    PromptEntry,
    ReActEntry,
    ToolEntry,
)
from flink_agents_subagent._descriptor.field import RetryEntry
from flink_agents_subagent._descriptor.model import (
    ActionEntry,
    AgentEntry,
    FileEntry,
    ResourceEntry,
    SubagentEntry,
)
from tests.docs.pages import ROOT, blocks, write_files

_PAGE = ROOT / "docs" / "yaml.md"
_CHECKS = [block for block in blocks(_PAGE) if block.mark == "check"]


def check(folder: Path, name: str) -> str:
    """Return what the command prints for a file of the page, in a folder with all of them."""
    write_files(_PAGE, folder)
    command = [sys.executable, "-m", "flink_agents_subagent.cli", "check", name]
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)}
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("block", _CHECKS, ids=lambda block: block.name)
def test_check_prints_what_the_page_shows(block: object, tmp_path: Path) -> None:
    """Each problem of the wrong file, with its place and remedy [R2]."""
    assert check(tmp_path, block.name) == block.code


def test_the_first_file_has_no_problems(tmp_path: Path) -> None:
    """The command finds the modules beside it [R1]."""
    assert check(tmp_path, "agents.yaml") == "no problems in 1 file.\n"


def test_the_table_has_every_key() -> None:
    """Keys of the format and of the table are the same, kind by kind."""
    rows = re.findall(r"^\| ([A-Za-z -]*)\| ((?:`\w+`,? ?)+)\|", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed: dict[str, set[str]] = {}
    kind = ""
    for first, keys in rows:
        kind = first.strip() or kind
        listed.setdefault(kind, set()).update(re.findall(r"`(\w+)`", keys))
    models = {
        "the file": FileEntry,
        "an agent": AgentEntry,
        "an action": ActionEntry,
        "a resource": ResourceEntry,
        "a chat model connection": ConnectionEntry,
        "a chat model": ChatModelEntry,
        "a tool": ToolEntry,
        "a prompt": PromptEntry,
        "a message": MessageEntry,
        "a ReAct agent": ReActEntry,
        "a sub-agent": SubagentEntry,
        "a retry policy": RetryEntry,
    }

    keys_of = {
        name: {field.alias or key for key, field in model.model_fields.items()} for name, model in models.items()
    }

    assert listed == keys_of


def test_the_bounds_are_those_of_the_reader() -> None:
    """Size, values and levels."""
    assert (document.MAX_BYTES, document.MAX_VALUES, document.MAX_DEPTH) == (1 << 20, 20_000, 50)
    assert "at most 1 MiB, 20,000 values (those of an alias counted each time) and 50 levels" in _PAGE.read_text(
        encoding="utf-8"
    )
