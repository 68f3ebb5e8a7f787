from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.harness.effect_server import answer
from e2e.harness.processes import HarnessError
from examples.demo import __main__ as demo
from examples.demo.checker import Kill
from examples.demo.expected import expect
from examples.demo.job import read_flights
from examples.demo.run import FLIGHTS, Plan
from flink_agents_subagent.testing.http import Request


class FakeRun:
    """A run of which only the outcome exists: that of a plain loop, less the outputs in `missing`."""

    missing = 0
    error: BaseException | None = None

    def __init__(self, folder: Path, plan: Plan, say: Callable[[str], None]) -> None:
        self.folder = folder
        self.plan = plan
        self.say = say
        self.desks = self
        self.kills: list[Kill] = []
        self.lost_s = [1.25]
        self.failures = ["TaskManager lost", "something else", "TaskManager lost"]
        self._expectation = expect(read_flights(FLIGHTS), answer)

    def perform(self) -> None:
        """Do nothing, or fail."""
        if self.error is not None:
            raise self.error

    def outputs(self) -> list[str]:
        """Return the outputs."""
        return list(self._expectation.outputs[self.missing :])

    def requests(self) -> list[Request]:
        """Return one request for each call."""
        return [
            Request(n, n, "POST", call.path, f"key-{n}", call.body, answered_ns=n, status=200)
            for n, call in enumerate(self._expectation.calls)
        ]


def _main(monkeypatch: pytest.MonkeyPatch, **attributes: Any) -> int:
    monkeypatch.setattr(demo, "DemoRun", type("Run", (FakeRun,), attributes))
    monkeypatch.setattr("sys.argv", ["demo"])
    return demo.main()


def test_a_good_run_exits_with_0(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """When all figures hold the exit status is 0 and the last line says so."""
    assert _main(monkeypatch) == 0

    shown = capsys.readouterr().out
    assert "outputs                        3375" in shown
    assert shown.endswith("\nEverything holds.\n")


def test_a_wrong_figure_exits_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """When a figure does not hold the exit status is 1 and the line that is wrong is marked."""
    assert _main(monkeypatch, missing=2) == 1

    shown = capsys.readouterr().out
    assert "WRONG: 2 outputs of the plain loop are missing" in shown
    assert "The job failed with:\n    TaskManager lost\n    something else\n" in shown


def test_a_run_that_cannot_be_made_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When the cluster does not come up the exit status is 2, and the reason goes to the error output."""
    assert _main(monkeypatch, error=HarnessError("no JobManager")) == 2

    assert "no JobManager" in capsys.readouterr().err


def test_an_interrupted_run_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with the status that shells give it."""
    assert _main(monkeypatch, error=KeyboardInterrupt()) == 130


def test_the_data_are_what_the_readme_says() -> None:
    """The file has the flights of four days in their order, each with an id of its own."""
    flights = read_flights(FLIGHTS)

    ids = [flight["id"] for flight in flights]
    assert len(flights) == len(set(ids)) == 3375
    assert (ids[0][:10], ids[-1][:10]) == ("2013-02-07", "2013-02-10")
    assert [id_[:16] for id_ in ids] == sorted(id_[:16] for id_ in ids)
    assert json.dumps(flights[0]) == (
        '{"id": "2013-02-07T05:00 US1117 EWR", "destination": "CLT", "departure_delay": -2, "arrival_delay": -6}'
    )
