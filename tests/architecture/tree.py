"""The files that the architecture tests look at."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "flink_agents_subagent"
JAVA_MAIN = ROOT / "java-bridge" / "src" / "main" / "java"
JAVA_TEST = ROOT / "java-bridge" / "src" / "test" / "java"
TESTS = ROOT / "tests"


def sources(folder: Path, pattern: str) -> list[Path]:
    """Return the files below a folder that match, sorted."""
    return sorted(file for file in folder.rglob(pattern) if "__pycache__" not in file.parts)


def tracked() -> list[Path]:
    """Return the files that git tracks and that are still there."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - found on the PATH like every tool of the build
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def named(file: Path, line: int | None = None) -> str:
    """Return how a message names a file, or a line of it."""
    name = file.relative_to(ROOT).as_posix()
    return name if line is None else f"{name}:{line}"
