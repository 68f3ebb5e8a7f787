"""The functions that Java calls."""

from __future__ import annotations

import inspect

from flink_agents_subagent._flink import entry
from tests.conformance.vectors import vectors


def test_the_functions_that_java_calls_are_pinned() -> None:
    """Names and arities are those that the Java half expects, no more and no fewer [P6]."""
    pinned = {case.values[0]["function"]: case.values[1]["arity"] for case in vectors("entry-points")}

    assert pinned == {name: len(inspect.signature(getattr(entry, name)).parameters) for name in entry.__all__}
    assert entry.handshake() == ";".join(["2", *(f"{name}/{arity}" for name, arity in sorted(pinned.items()))])
