"""The table of results: for the terminal, kept in a file from run to run, and in the documentation. Owns its columns.

`python -m e2e.scenarios.table RESULTS DOCUMENT` writes what a file of results says into a page, between two marks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from e2e.scenarios.catalogue import SCENARIOS
from e2e.scenarios.runner import Outcome

__all__ = ["Result", "append_result", "read_results", "table", "write_document"]

_BEGIN, _END = "<!-- table: written by make e2e -->", "<!-- end of table -->"

_COLUMNS = (
    "scenario",
    "runs",
    "kills",
    "inputs",
    "effects",
    "repeats in flight",
    "recorded repeated",
    "lost",
    "s",
    "seeds",
)


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one run of a scenario, all its jobs together."""

    scenario: str
    seed: int
    kills: int
    inputs: int
    effects: int
    repeated_in_flight: int
    repeated_recorded: int
    lost: int
    seconds: int
    problems: int

    @classmethod
    def of(cls, outcome: Outcome) -> Result:
        """Sum up an outcome."""
        reports = outcome.reports
        return cls(
            scenario=outcome.scenario.name,
            seed=outcome.seed,
            kills=outcome.kills,
            inputs=sum(report.inputs for report in reports),
            effects=sum(report.effects for report in reports),
            repeated_in_flight=sum(report.repeated_in_flight for report in reports),
            repeated_recorded=sum(report.repeated_recorded for report in reports),
            lost=sum(report.lost for report in reports),
            seconds=round(outcome.seconds),
            problems=len(outcome.problems),
        )


def append_result(file: Path, result: Result) -> None:
    """Add a result to a file, which need not exist."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(result)) + "\n")


def read_results(file: Path) -> list[Result]:
    """Return the results in a file."""
    return [Result(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def table(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table: a line for each scenario, all its runs together."""
    rows: list[tuple[str, ...]] = [_COLUMNS]
    names = dict.fromkeys(result.scenario for result in results)
    rows += [_row(name, [result for result in results if result.scenario == name]) for name in names]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    rule = (
        "|"
        + "|".join(f"{'-' * (width + 1)}{':' if 0 < place < 9 else '-'}" for place, width in enumerate(widths))
        + "|"
    )
    head, *lines = (_line(row, widths) for row in rows)
    return "\n".join([head, rule, *lines])


def write_document(page: Path, results: Sequence[Result]) -> None:
    """Replace the table between the marks of a page.

    Raises:
        ValueError: A scenario is missing, or a run was not as it must be; or the page has no marks.
    """
    if missing := SCENARIOS.keys() - {result.scenario for result in results}:
        raise ValueError(f"no result of {', '.join(sorted(missing))}; the table is not written")
    if failed := {f"{result.scenario} (seed {result.seed})" for result in results if result.problems}:
        raise ValueError(f"not as they must be: {', '.join(sorted(failed))}; the table is not written")
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for the table between {_BEGIN!r} and {_END!r}")
    order = list(SCENARIOS)
    ordered = sorted(results, key=lambda result: order.index(result.scenario))
    page.write_text(f"{before}{begin}\n\n{table(ordered)}\n\n{end}{after}", encoding="utf-8")


def _row(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    figures = (
        len(results),
        sum(result.kills for result in results),
        sum(result.inputs for result in results),
        sum(result.effects for result in results),
        sum(result.repeated_in_flight for result in results),
        sum(result.repeated_recorded for result in results),
        sum(result.lost for result in results),
        max(result.seconds for result in results),
    )
    seeds = ", ".join(str(result.seed) for result in results)
    return (f"`{name}`", *(str(figure) for figure in figures), seeds)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        text.rjust(width) if 0 < place < 9 else text.ljust(width)
        for place, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    write_document(Path(sys.argv[2]), read_results(Path(sys.argv[1])))
    print(f"wrote the table of {sys.argv[2]}")
