"""The table that the documentation shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.scenarios.catalogue import SCENARIOS
from e2e.scenarios.table import Result, append_result, read_results, table, write_document


def _result(scenario: str, seed: int = 1, problems: int = 0) -> Result:
    return Result(scenario, seed, 2, 10, 30, 1, 0, 0, 40 + seed, problems)


_ALL = [_result(name) for name in SCENARIOS]


def test_runs_of_a_scenario_are_summed_up() -> None:
    """Figures add up, of the seconds the most count, and each seed is named."""
    lines = table([_result("rescaled"), _result("zombie"), _result("rescaled", seed=2)]).splitlines()

    assert lines[0].split("|")[1].strip() == "scenario"
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        *("`rescaled`", "2", "4", "20", "60", "2", "0", "0", "42", "1, 2")
    ]
    assert len({len(line) for line in lines}) == 1


def test_results_are_kept_in_a_file(tmp_path: Path) -> None:
    """What was added is read again, in order."""
    file = tmp_path / "deep" / "results"
    append_result(file, _result("zombie"))
    append_result(file, _result("rescaled"))

    assert read_results(file) == [_result("zombie"), _result("rescaled")]


def test_a_page_gets_the_table_between_its_marks(tmp_path: Path) -> None:
    """What stood between the marks is replaced, the rest stays, and scenarios are in the order of the catalogue."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: written by make e2e -->\nold\n<!-- end of table -->\nafter\n")

    write_document(page, _ALL[::-1])

    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == list(SCENARIOS)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (_ALL[1:], "no result of"),
        ([*_ALL, _result("zombie", seed=7, problems=1)], r"not as they must be: zombie \(seed 7\)"),
    ],
)
def test_a_table_that_would_mislead_is_not_written(results: list[Result], message: str, tmp_path: Path) -> None:
    """A missing scenario, or a run with a problem, leaves the page as it is."""
    page = tmp_path / "page.md"
    page.write_text("<!-- table: written by make e2e -->\nold\n<!-- end of table -->\n")

    with pytest.raises(ValueError, match=message):
        write_document(page, results)

    assert "old" in page.read_text()


def test_a_page_without_marks_is_refused(tmp_path: Path) -> None:
    """A page that has no place for the table is an error."""
    page = tmp_path / "page.md"
    page.write_text("nothing")

    with pytest.raises(ValueError, match="no place"):
        write_document(page, _ALL)
