"""A file at its limit is split by responsibility."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.architecture.tree import JAVA_MAIN, JAVA_TEST, PACKAGE, TESTS, named, sources

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("folder", "pattern", "limit"),
    [
        pytest.param(PACKAGE, "*.py", 400, id="python-package"),
        pytest.param(JAVA_MAIN, "*.java", 300, id="java-main"),
        pytest.param(TESTS, "*.py", 500, id="python-tests"),
        pytest.param(JAVA_TEST, "*.java", 300, id="java-tests"),
    ],
)
def test_no_file_is_too_long(folder: Path, pattern: str, limit: int) -> None:
    """No source file is longer than its kind may be."""
    lengths = {named(file): len(file.read_text(encoding="utf-8").splitlines()) for file in sources(folder, pattern)}

    too_long = {name: length for name, length in lengths.items() if length > limit}

    assert too_long == {}, f"longer than {limit} lines; split by responsibility"
