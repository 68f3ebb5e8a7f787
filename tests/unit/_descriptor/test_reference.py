"""References: what they find, and what is said when they find nothing."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from flink_agents_subagent._descriptor.reference import UnknownReferenceError, find
from tests.unit._descriptor import files  # noqa: F401 -- makes the modules importable

wares = importlib.import_module("wares")


def test_a_reference_finds_what_it_names() -> None:
    """Functions, classes and what is inside them."""
    assert find("wares:take") is wares.take
    assert find("wares:Desk.anywhere") is wares.Desk.anywhere
    assert find("builtins:int") is int


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("waers:take", "there is no module 'waers'; did you mean 'wares'"),
        (
            "wares.take:x",
            "there is no module 'wares.take'; wares is a module, no package; write wares:take for what it",
        ),
        ("crates.brken:x", "there is no module 'crates.brken'; did you mean 'crates.broken'?"),
        ("crates.zzz:x", "there is no module 'crates.zzz'; crates has broken, lonely"),
        ("qqqqqqq.x:y", "there is no module 'qqqqqqq'; install it, or put its folder on PYTHONPATH"),
        ("crates.broken:x", "the module 'crates.broken' fails when it is imported: OSError: no such disk"),
        (
            "crates.lonely:x",
            f"the module 'crates.lonely' needs 'no_such_module_anywhere', which is not installed in {sys.prefix}",
        ),
        ("wares:Oder", "the module 'wares' has no 'Oder'; did you mean 'Order'?"),
        ("wares:qqqqq", f"the module 'wares' has no 'qqqqq'; see {wares.__file__}"),
        ("wares:Desk.anywere", "wares:Desk has no 'anywere'; did you mean 'anywhere'?"),
        (".wares:take", "the module '.wares' fails when it is imported: TypeError"),
    ],
)
def test_a_reference_that_finds_nothing_says_why(reference: str, message: str) -> None:
    """A misspelt name brings the nearest, a failing module its error [R2]."""
    with pytest.raises(UnknownReferenceError) as caught:
        find(reference)

    assert str(caught.value).startswith(message)


def test_a_script_that_exits_is_no_end_of_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that calls `sys.exit` when it is imported is reported like any that fails [R2]."""
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(3)\n", encoding="ascii")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(UnknownReferenceError, match="'leaving' fails when it is imported: SystemExit: 3"):
        find("leaving:x")
