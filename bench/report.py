"""Turns samples into one Markdown table and one JSON file."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.catalogue import Measure, Target
from bench.contestants import OURS, Contestant
from bench.environments import HERE
from bench.runner import Sample

_HEAD = "| id | measure | contestant | median | lowest – highest | ours ÷ it | target for ours | met |"
_RULE = "|---|---|---|---:|---:|---:|---|---|"


@dataclass(frozen=True, slots=True)
class Results:
    """The samples of one invocation, with what they are samples of."""

    measures: Sequence[Measure]
    contestants: Sequence[Contestant]
    samples: Sequence[Sample]

    @property
    def is_good(self) -> bool:
        """Tell whether all jobs ran and all targets that could be judged are met."""
        pairs = ((measure, one) for measure in self.measures for one in self.contestants)
        return not any(sample.failure for sample in self.samples) and all(
            self._verdict(*pair) is not False for pair in pairs
        )

    def table(self) -> str:
        """Return the Markdown table, with a line for each measure and contestant, and its footnotes."""
        pairs = ((measure, one) for measure in self.measures for one in self.contestants)
        lines = [self._line(*pair) for pair in pairs if self._took_part(*pair)]
        return "\n".join([_HEAD, _RULE, *lines, "", *self._footnotes()])

    def save(self, *, runs: int, quick: bool) -> Path:
        """Write everything below `results` and return the file."""
        now = dt.datetime.now(tz=dt.timezone.utc)
        content = {
            "date": now.isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()},
            "runs": runs,
            "quick": quick,
            "table": self.table().splitlines(),
            "samples": [asdict(sample) for sample in self.samples],
        }
        file = HERE / "results" / f"{now:%Y-%m-%d-%H%M%S}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
        return file

    def _line(self, measure: Measure, contestant: Contestant) -> str:
        note = measure.notes.get(contestant.name)
        title = f"{contestant.title} ({note})" if note else contestant.title
        values = self._values(measure, contestant)
        middle = f"{_number(statistics.median(values))} {measure.unit}" if values else "failed"
        spread = f"{_number(min(values))} – {_number(max(values))}" if values else ""
        target = "; ".join(target.words(measure.unit) for target in _targets_on(measure, contestant))
        met = {True: "yes", False: "**no**", None: ""}[self._verdict(measure, contestant)]
        ratio = self._ratio(measure, contestant)
        return f"| {measure.id} | {measure.title} | {title} | {middle} | {spread} | {ratio} | {target} | {met} |"

    def _ratio(self, measure: Measure, contestant: Contestant) -> str:
        ours, theirs = self._values(measure, OURS), self._values(measure, contestant)
        if contestant == OURS or not ours or not theirs or not statistics.median(theirs):
            return ""
        return _number(statistics.median(ours) / statistics.median(theirs))

    def _verdict(self, measure: Measure, contestant: Contestant) -> bool | None:
        """Return whether the targets on this line are met; None where there is nothing to judge."""
        targets = _targets_on(measure, contestant)
        ours, theirs = self._values(measure, OURS), self._values(measure, contestant)
        if not targets or not ours or not theirs:
            return None
        return all(target.is_met(statistics.median(ours), statistics.median(theirs)) for target in targets)

    def _took_part(self, measure: Measure, contestant: Contestant) -> bool:
        return any((one.workload, one.contestant) == (measure.workload, contestant.name) for one in self.samples)

    def _values(self, measure: Measure, contestant: Contestant) -> list[float]:
        mine = (one for one in self.samples if (one.workload, one.contestant) == (measure.workload, contestant.name))
        return [sample.figures[measure.figure] for sample in mine if not sample.failure]

    def _footnotes(self) -> Iterator[str]:
        for contestant in self.contestants:
            versions = [
                one.figures["versions"] for one in self.samples if one.contestant == contestant.name and one.figures
            ]
            if versions:
                named = ", ".join(f"{package} {version}" for package, version in versions[0].items())
                note = contestant.environment.note
                yield f"- {contestant.title}: {named}{f'; {note}' if note else ''}"
        busiest = max((sample.load for sample in self.samples), default=0)
        yield f"- Load of the machine before a job: up to {busiest:.1f} on {os.cpu_count()} cores (a job's own load lingers)"


def _targets_on(measure: Measure, contestant: Contestant) -> list[Target]:
    """Return the targets on a contestant's line: those that name it, or on our own line those that name nobody."""
    named = "" if contestant == OURS else contestant.name
    return [target for target in measure.targets if target.peer == named]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
