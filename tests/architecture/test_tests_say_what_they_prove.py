"""Every test states its claim."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.architecture.tree import TESTS, named, parsed, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _test_functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    for scope in (module, *classes):
        yield from (node for node in scope.body if isinstance(node, _FUNCTION) and node.name.startswith("test_"))


def test_every_test_has_a_docstring() -> None:
    """A test without a sentence of its own is reported by place and name."""
    silent = [
        f"{named(file, test.lineno)} {test.name}"
        for file in sources(TESTS, "test_*.py")
        for test in _test_functions(parsed(file))
        if not (ast.get_docstring(test) or "").strip()
    ]

    assert silent == []
