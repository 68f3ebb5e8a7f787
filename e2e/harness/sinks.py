"""What a Flink file sink has committed. Owns the rule which of its files count."""

from __future__ import annotations

from pathlib import Path

__all__ = ["committed_lines"]


def committed_lines(folder: Path) -> list[str]:
    """Return the lines of all committed files; those in progress, or waiting for a checkpoint, begin with a dot."""
    files = sorted(file for file in folder.rglob("part-*") if not file.name.startswith("."))
    return [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
