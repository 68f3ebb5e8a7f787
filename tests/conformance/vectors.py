"""Reads `tests/vectors`: data cases with an id, a title, what is given and what is expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).resolve().parents[1] / "vectors"
_FIELDS = {"id", "title", "given", "expect"}


def vectors(kind: str) -> list[Any]:
    """Return the cases of a folder as pytest parameters; a file or case with unknown fields is an error."""
    files = sorted((_FOLDER / kind).iterdir())
    cases = [case for file in files for case in _cases(file)]
    assert cases, f"no vectors in {kind}"
    assert len({case["id"] for case in cases}) == len(cases), f"an id of {kind} is used twice"
    return [pytest.param(case["given"], case["expect"], id=case["id"]) for case in cases]


def _cases(file: Path) -> list[dict[str, Any]]:
    content = json.loads(file.read_text(encoding="utf-8"))
    assert set(content) == {"contract", "cases"}, f"unknown fields in {file.name}"
    for case in content["cases"]:
        assert set(case) == _FIELDS, f"unknown fields in a case of {file.name}: {case}"
    cases: list[dict[str, Any]] = content["cases"]
    return cases
