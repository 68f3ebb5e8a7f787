"""The public names change on purpose only."""

from __future__ import annotations

from pathlib import Path

import flink_agents_subagent

_FROZEN = Path(__file__).with_name("public_names.txt")


def test_public_names_are_frozen() -> None:
    """The package offers the names that the list holds; `python scripts/freeze_public_names.py` rewrites the list."""
    frozen = _FROZEN.read_text(encoding="utf-8").split()

    assert frozen == list(flink_agents_subagent.__all__)


def test_public_names_exist() -> None:
    """Each public name can be imported from the package and carries no underscore."""
    names = flink_agents_subagent.__all__

    assert [name for name in names if not hasattr(flink_agents_subagent, name)] == []
    assert [name for name in names if name.startswith("_")] == []
    assert len(set(names)) == len(names)
