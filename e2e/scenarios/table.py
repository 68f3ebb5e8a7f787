"""The table of outcomes, for the terminal and for the documentation. Owns its columns."""

from __future__ import annotations

from collections.abc import Sequence

from e2e.scenarios.runner import Outcome

__all__ = ["table"]

_COLUMNS = (
    "scenario",
    "kills",
    "inputs",
    "effects",
    "repeated in flight",
    "repeated recorded",
    "lost",
    "seconds",
    "seed",
)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes as a Markdown table, in columns of equal width."""
    rows = [_COLUMNS, *(_row(outcome) for outcome in outcomes)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_COLUMNS))]
    lines = [_line(row, widths) for row in rows]
    rule = "|" + "|".join(f"-{'-' * width}{':' if place else '-'}" for place, width in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _row(outcome: Outcome) -> tuple[str, ...]:
    reports = outcome.reports
    figures = (
        outcome.kills,
        sum(report.inputs for report in reports),
        sum(report.effects for report in reports),
        sum(report.repeated_in_flight for report in reports),
        sum(report.repeated_recorded for report in reports),
        sum(report.lost for report in reports),
        round(outcome.seconds),
        outcome.seed,
    )
    return (outcome.scenario.name, *(str(figure) for figure in figures))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *figures = (
        text.ljust(width) if not place else text.rjust(width)
        for place, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "| " + " | ".join([name, *figures]) + " |"
