"""The pages that readers see, and the Python in them: finds blocks and runs them. Owns the marks that a block may carry.

The blocks of a page run in order in one namespace, as a reader would type them. An HTML comment on the line before a block says
otherwise: `<!-- no-run: reason -->` keeps it from being run, `<!-- flink -->` has it run as a script of its own, with Flink.
`<!-- file: name -->` makes the block, of any language, a file of the folder in which the others run; `<!-- check: name -->` says what
`flink-agents-subagent check` prints for a file.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

__all__ = ["ROOT", "Block", "blocks", "page", "pages", "run_page", "write_files"]

ROOT = Path(__file__).resolve().parents[2]

Mark = Literal["run", "flink", "no-run", "file", "check"]

_MARK = re.compile(r"<!--\s*(flink|no-run|file|check)(?::\s*(\S.*?))?\s*-->")
_FENCE = re.compile(r"```(\w*)\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: of Python, or marked as a file or as what a command prints."""

    file: Path
    line: int
    """Of the page, on which the code begins."""
    code: str
    mark: Mark
    name: str = ""
    """Of the file, or the reason."""

    def compiled(self) -> types.CodeType:
        """Return the code, with the lines of the page in its tracebacks."""
        return compile("\n" * (self.line - 1) + self.code, str(self.file), "exec", dont_inherit=True)


def pages() -> list[Path]:
    """Return every page that users read."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").glob("*/README.md")),
    ]


def blocks(file: Path) -> list[Block]:
    """Return the Python blocks of a page, in order."""
    return list(_blocks(file))


def _blocks(file: Path) -> Iterator[Block]:
    lines = file.read_text(encoding="utf-8").splitlines()
    start, language = 0, None
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.fullmatch(line)
        if fence is None:
            continue
        if language is None:
            start, language = number, fence[1]
        else:
            mark, name = _mark(lines, start)
            if language == "python" or mark in ("file", "check"):
                yield Block(file, start + 1, "\n".join(lines[start : number - 1]) + "\n", mark, name)
            language = None
    if language is not None:
        raise ValueError(f"{file}:{start}: the block is not closed")


def _mark(lines: list[str], fence: int) -> tuple[Mark, str]:
    found = _MARK.fullmatch(lines[fence - 2].strip()) if fence > 1 else None
    return ("run", "") if found is None else (cast("Mark", found[1]), found[2] or "")


def write_files(file: Path, folder: Path) -> None:
    """Write the files of a page into a folder."""
    for block in blocks(file):
        if block.mark == "file":
            (folder / block.name).write_text(block.code, encoding="utf-8")


def run_page(file: Path) -> types.ModuleType:
    """Run the blocks of a page as one module, which stays importable: the journal finds the types of the page by it."""
    module = types.ModuleType(f"page_{file.stem.replace('-', '_').lower()}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    with _folder_of(file):
        for block in blocks(file):
            if block.mark == "run":
                exec(block.compiled(), vars(module))  # noqa: S102 - our own pages
    return module


@contextmanager
def _folder_of(file: Path) -> Iterator[None]:
    """Be in a folder with the files of a page, whose modules can be imported, if it has any."""
    if not any(block.mark == "file" for block in blocks(file)):
        yield
        return
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        write_files(file, Path(name))
        sys.path.insert(0, name)
        os.chdir(name)
        try:
            yield
        finally:
            os.chdir(before)
            sys.path.remove(name)


@cache
def page(name: str) -> types.ModuleType:
    """Return the module that a page of `docs` is, run once; `README` is the one at the root."""
    return run_page(ROOT / "README.md" if name == "README" else ROOT / "docs" / f"{name}.md")
