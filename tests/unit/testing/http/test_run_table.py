from __future__ import annotations

import threading
from typing import Any

import pytest

from flink_agents_subagent.testing.http.fault import Fault, Met
from flink_agents_subagent.testing.http.run_table import ForgottenError, KeyReusedError, RunRequest, RunState, RunTable


class Table:
    """A run table whose time stands still until it is moved, with what it noted."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.notes: list[tuple[str, str]] = []
        self.worked: list[Any] = []
        self.runs = RunTable(self._work, lambda: self.now_ns, lambda event, key, **_: self.notes.append((event, key)))

    def start(self, key: str = "k", prompt: Any = "p", fault: Fault | None = None, duration_ms: float = 0) -> bool:
        """Start a run that meets the fault; what it holds is released by nobody."""
        met = Met(fault, threading.Event())
        return self.runs.start(RunRequest(prompt, "s", key), str(prompt).encode(), duration_ms, lambda: met)

    def states(self, *at_ms: int) -> list[str]:
        """Return the states of `k` at these times."""
        found = []
        for ms in at_ms:
            self.now_ns = ms * 1_000_000
            state = self.runs.state("k")
            found.append("" if state is None else state.state)
        return found

    def _work(self, request: RunRequest) -> Any:
        self.worked.append(request.prompt)
        if request.prompt == "bad":
            raise ValueError("no such thing")
        return {"said": request.prompt}


@pytest.fixture
def table() -> Table:
    """An empty table at time 0."""
    return Table()


def test_a_key_starts_one_run(table: Table) -> None:
    """The same key with the same content changes nothing; with another content it is refused."""
    assert (table.start(), table.start()) == (True, False)
    with pytest.raises(KeyReusedError, match="'k' was used with another content"):
        table.start(prompt="other")
    assert table.notes == [("started", "k")]


def test_a_run_takes_its_time_and_is_worked_on_once(table: Table) -> None:
    """It is completed when its duration is over, and its work is done when that is seen for the first time."""
    table.start(duration_ms=50)

    assert table.states(0, 49) == ["RUNNING", "RUNNING"]
    assert table.worked == []
    assert table.states(50, 60) == ["COMPLETED", "COMPLETED"]
    assert table.runs.state("k") == RunState("COMPLETED", None, {"said": "p"})
    assert (table.worked, table.notes) == (["p"], [("started", "k"), ("ended", "k")])


def test_work_that_raises_fails_the_run(table: Table) -> None:
    """The reason is the exception's type and text; a fault fails a run without any work."""
    table.start(prompt="bad")
    table.start("other", fault=Fault("fail", "run"))

    assert table.runs.state("k") == RunState("FAILED", "ValueError: no such thing")
    assert table.runs.state("other") == RunState("FAILED", "a fault was asked for")
    assert table.worked == ["bad"]


def test_a_late_start_is_seen(table: Table) -> None:
    """Until it starts its state is NOT_STARTED; its duration counts from then."""
    table.start(fault=Fault("delay", "run", delay_ms=30), duration_ms=10)

    assert table.states(29, 30, 40) == ["NOT_STARTED", "RUNNING", "COMPLETED"]


def test_a_held_run_ends_when_it_is_released(table: Table) -> None:
    """Its duration alone does not end it."""
    met = Met(Fault("hold", "run"), threading.Event())
    table.runs.start(RunRequest("p", "s", "k"), b"p", 0, lambda: met)

    assert table.states(5) == ["RUNNING"]
    met.released.set()
    assert table.states(5) == ["COMPLETED"]


def test_an_expired_run_is_forgotten_once_it_has_ended(table: Table) -> None:
    """That it is running can be known, what became of it cannot; its key still starts no second run."""
    table.start(fault=Fault("expire", "run"), duration_ms=5)

    assert table.states(4) == ["RUNNING"]
    table.now_ns = 5_000_000
    with pytest.raises(ForgottenError, match="'k' is not kept any more"):
        table.runs.state("k")
    assert not table.start()


def test_cancelling_is_repeatable_and_reaches_what_has_not_ended(table: Table) -> None:
    """A running run is cancelled once; one that has ended keeps its end, also if nobody has looked since."""
    table.start(duration_ms=5)
    table.start("done")
    for key in ("k", "k", "done"):
        table.runs.cancel(key)

    assert table.states(0, 9) == ["CANCELLED", "CANCELLED"]
    assert table.runs.state("done") == RunState("COMPLETED", None, {"said": "p"})
    assert [note for note in table.notes if note[0] == "cancelled"] == [("cancelled", "k")]


def test_a_cancelled_key_gets_no_run_any_more(table: Table) -> None:
    """A cancellation that overtakes its submit still wins."""
    table.runs.cancel("k")
    table.runs.cancel("k")

    assert not table.start()
    assert table.runs.state("k") == RunState("CANCELLED")
    assert table.notes == [("cancelled", "k")]


def test_a_key_that_was_never_seen_has_no_state(table: Table) -> None:
    """Nothing is made up for it."""
    assert table.runs.state("k") is None
