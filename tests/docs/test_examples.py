"""Every example of every page runs; what the pages assert holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks, page, pages, write_files

_GUIDES = [
    "agents",
    "chat-models",
    "delegation",
    "durable-calls",
    "event-log",
    "java-subagents",
    "migration",
    "react",
    "subagents",
    "testing",
    "yaml",
]
# Decision records show signatures, not programs.
_ALL = [block for file in pages() if file.parent.name != "decisions" for block in blocks(file)]
_SCRIPTS = [blocks(ROOT / "README.md")[0], *(block for block in _ALL if block.mark == "flink")]


def _name(block: Block) -> str:
    return f"{block.file.relative_to(ROOT).as_posix()}:{block.line}"


@pytest.mark.logs_warning
@pytest.mark.parametrize("guide", [*_GUIDES, "README"])
def test_the_examples_of_a_page_hold(guide: str) -> None:
    """The blocks run in order, in one namespace, and their asserts pass [E8.1, E8.2]."""
    assert page(guide).__file__ is not None


def test_no_other_page_has_python_that_nobody_runs() -> None:
    """A page with Python is one of those above."""
    names = {block.file.stem for block in _ALL if block.mark == "run"}

    assert names == {*_GUIDES, "README"}


def test_the_readme_is_short() -> None:
    """The first example fits into a glance."""
    code = blocks(ROOT / "README.md")[0].code

    assert len([line for line in code.splitlines() if line.strip()]) <= 20


@pytest.mark.flink
@pytest.mark.timeout(300)
@pytest.mark.parametrize("block", _SCRIPTS, ids=_name)
def test_scripts_run_as_a_user_runs_them(block: Block, tmp_path: Path) -> None:
    """`python job.py` submits the example to a local cluster and ends well [P7, P8, P9]."""
    script = tmp_path / "job.py"
    script.write_text(block.code, encoding="utf-8")
    write_files(block.file, tmp_path)

    done = subprocess.run(  # noqa: S603 - our own example
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert done.returncode == 0, done.stderr[-4000:]
    if block.file.name == "README.md":
        assert done.stdout.count("'answer': 'an answer to ") == 2
        assert done.stdout.count("'asked': 1") == 2
