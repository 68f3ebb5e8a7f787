"""What docs/event-log.md says of the event log, held against the log of a run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent import Agent, InputEvent, OutputEvent, RunnerContext, action
from flink_agents_subagent._engine.shown import MAX_CHARACTERS, SECRET_NAMES
from flink_agents_subagent.testing import LocalRunner, ManualClock
from tests.docs.pages import ROOT, write_files

_PAGE = ROOT / "docs" / "event-log.md"
_TEXT = _PAGE.read_text(encoding="utf-8")
_clock = ManualClock()


def weigh(article: str) -> int:
    """Take a second for each letter."""
    _clock.advance(len(article))
    return len(article)


class Scales(Agent):
    """Weighs what comes, twice."""

    @action(InputEvent)
    async def weigh_twice(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Call one after the other."""
        first = await ctx.durable_execute_async(weigh, event.input)
        ctx.send_event(OutputEvent(output=first + await ctx.durable_execute_async(weigh, event.input * 2)))


@pytest.fixture
def events() -> list[dict[str, Any]]:
    """The lines of a run; one call is made a replayed one."""
    lines = LocalRunner(Scales(), clock=_clock, options={"event-log": "slf4j"}).run([("ada", "tea")]).events
    replayed = next(line for line in lines if line["what"] == "call" and line["status"] == "ok")
    return [*lines, {name: value for name, value in replayed.items() if name != "duration_ms"} | {"replayed": True}]


def _counted(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the command of the page prints, computed here."""
    ends = [event for event in events if event["what"] == "call" and event["status"] != "started"]
    of_name = {name: [end for end in ends if end["name"] == name] for name in sorted({end["name"] for end in ends})}
    return [
        {
            "name": name,
            "made": sum(not end["replayed"] for end in ends),
            "replayed": sum(end["replayed"] for end in ends),
            "slowest_ms": max(end.get("duration_ms", 0) for end in ends),
        }
        for name, ends in of_name.items()
    ]


def test_the_command_of_the_page_counts_calls(events: list[dict[str, Any]], tmp_path: Path) -> None:
    """As a reader would run it on a folder of the log; where there is no jq, the same is counted in Python [E7.2]."""
    counted = _counted(events)
    if shutil.which("jq") is not None:
        folder = tmp_path / "events" / "job" / "agent-scales"
        folder.mkdir(parents=True)
        (folder / "subtask-0_20260102T120000.000Z_attempt-0.jsonl").write_text(
            "".join(f"{json.dumps(event)}\n" for event in events), encoding="ascii"
        )
        write_files(_PAGE, tmp_path)
        ran = subprocess.run(["/bin/sh", "calls.sh"], cwd=tmp_path, capture_output=True, text=True, check=True)
        counted = [json.loads(line) for line in ran.stdout.splitlines()]

    assert counted == [{"name": f"{__name__}:weigh", "made": 2, "replayed": 1, "slowest_ms": 6000}]


def test_the_page_lists_the_words_of_credentials() -> None:
    """All of them, and the largest size of a value [E7.2]."""
    (words,) = re.findall(r"^> (.+)$", _TEXT, re.MULTILINE)

    assert words.split(", ") == list(SECRET_NAMES)
    assert f"{MAX_CHARACTERS} characters" in _TEXT


def test_the_page_names_every_field(events: list[dict[str, Any]]) -> None:
    """Of each line of a run [E7.2]."""
    fields = {name for event in events for name in event}

    assert {name for name in fields if f"`{name}`" not in _TEXT} == set()
