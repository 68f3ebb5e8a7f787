"""An integration knows its port and nothing else of ours."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.architecture.tree import PACKAGE, named, parsed, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = "flink_agents_subagent"
_PORTS = frozenset({f"{_OURS}.{port}" for port in ("chat", "context", "errors", "resources", "subagents")})


def _imports_of_ours(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == _OURS)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _OURS:
            yield node.lineno, node.module or ""


def test_an_integration_imports_ports_only() -> None:
    """A module in `integrations` imports no other part of the package than the ports and the errors."""
    strays = [
        f"{named(file, line)} {name}"
        for file in sources(PACKAGE / "integrations", "*.py")
        for line, name in _imports_of_ours(parsed(file))
        if ".".join(name.split(".")[:2]) not in _PORTS and not name.startswith(f"{_OURS}.integrations")
    ]

    assert strays == []
