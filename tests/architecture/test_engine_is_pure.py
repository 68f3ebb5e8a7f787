"""The engine performs no I/O, reads no clock and starts no thread.

The import contracts in pyproject.toml forbid whole modules; here is what may be used in part.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.architecture.tree import PACKAGE, named, parsed, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORBIDDEN_MODULES = frozenset(
    {
        "concurrent", "multiprocessing", "os", "pathlib", "pemja", "py4j", "pyflink", "queue", "random", "secrets",
        "select", "selectors", "shutil", "signal", "socket", "ssl", "subprocess", "tempfile", "threading", "time",
        "_thread", "urllib", "http",
    }
)  # fmt: skip
_ALLOWED_NAMES = frozenset({"random.Random", "threading.get_ident"})
_FORBIDDEN_ATTRIBUTES = {
    "asyncio": {
        "create_subprocess_exec", "create_subprocess_shell", "get_event_loop", "new_event_loop", "open_connection",
        "run", "run_coroutine_threadsafe", "Runner", "SelectorEventLoop", "start_server", "to_thread",
    },
    "date": {"today"},
    "datetime": {"now", "today", "utcnow"},
    "uuid": {"uuid1", "uuid4"},
}  # fmt: skip
_FORBIDDEN_CALLS = frozenset({"breakpoint", "input", "open", "print"})


def _impurities(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        for name in _named_by(node):
            yield node.lineno, name


def _named_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names if alias.name.split(".")[0] in _FORBIDDEN_MODULES]
        case ast.ImportFrom(module=str(module), names=names):
            return [name for alias in names if _is_forbidden_member(module, name := f"{module}.{alias.name}")]
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=attribute):
            return [f"{owner}.{attribute}"] if attribute in _FORBIDDEN_ATTRIBUTES.get(owner, ()) else []
        case ast.Call(func=ast.Name(id=function)):
            return [f"{function}()"] if function in _FORBIDDEN_CALLS else []
        case _:
            return []


def _is_forbidden_member(module: str, name: str) -> bool:
    if module.split(".", maxsplit=1)[0] in _FORBIDDEN_MODULES:
        return name not in _ALLOWED_NAMES
    owner, _, member = name.rpartition(".")
    return member in _FORBIDDEN_ATTRIBUTES.get(owner, ())


@pytest.mark.parametrize("package", ["_engine", "_plan"])
def test_nothing_impure_is_used(package: str) -> None:
    """The sans-IO packages use nothing that waits, reads the outside or differs on replay."""
    found = [
        f"{named(file, line)} {name}"
        for file in sources(PACKAGE / package, "*.py")
        for line, name in _impurities(parsed(file))
    ]

    assert found == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os.path", ["os.path"]),
        ("import time as clock", ["time"]),
        ("from threading import get_ident", []),
        ("from threading import Lock", ["threading.Lock"]),
        ("from asyncio import run", ["asyncio.run"]),
        ("asyncio.to_thread(f)", ["asyncio.to_thread"]),
        ("asyncio.Future()", []),
        ("datetime.now()", ["datetime.now"]),
        ("datetime.datetime.now()", ["datetime.now"]),
        ("open('x')", ["open()"]),
    ],
)
def test_the_check_sees_what_it_should(code: str, expected: list[str]) -> None:
    """Each impure way to write it is found, and what is allowed is let through."""
    found = [name for _, name in _impurities(ast.parse(code))]

    assert found == expected
