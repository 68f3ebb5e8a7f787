"""The event log of a job that fails once in the middle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.flink.agents import Delegating, Scripted
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until

pytestmark = pytest.mark.flink


def _lines(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.rglob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="ascii").splitlines()]


def _ends_of_calls(lines: list[dict[str, Any]], key: str) -> list[tuple[Any, ...]]:
    """Return which calls had an outcome, in which attempt of the task, and whether it was replayed."""
    return [
        (line["task_attempt"], line["call"], line["status"], line["replayed"])
        for line in lines
        if line["what"] == "call" and line["status"] != "started" and "subagent" not in line and line["key"] == key
    ]


def test_calls_are_logged_once_as_made_and_once_as_replayed(
    cluster: MiniCluster, board: Board, folder: Folder, tmp_path: Path
) -> None:
    """Those of the action and those of its sub-agent; what was not recorded at the failure is made in the second attempt [E7.2, E4.5]."""
    outer, inner, late = "logged outer", "logged inner", "logged late"
    board.hold(inner)
    board.hold(late)
    folder.options = {
        "event-log": "file",
        "event-log.file.directory": str(tmp_path / "events"),
        "job-identifier": "Logged job",
        "log-keys": "true",
    }
    folder.feed({"key": "a", "id": 1, "do": [["call", outer], ["delegate", [["call", inner], ["call", late]]]]})
    job = Job.run(cluster, folder, Delegating())
    board.wait_asked(inner)
    job.checkpoint()
    board.release(inner)
    board.wait_asked(late)
    restarts = job.restarts()
    board.answer("poison", "fail")
    folder.feed({"key": "poison", "id": 0, "do": [["fail_if_told", "poison"]]})
    until(lambda: job.restarts() > restarts, "a restart")
    board.wait_asked(late, 2)
    board.release(late)
    job.commit(folder, 3)
    job.cancel()

    lines = _lines(tmp_path / "events")
    calls = [line for line in lines if line["what"] == "call" and line["key"] == "'a'" and "subagent" in line]
    folders = {file.parent.relative_to(tmp_path / "events") for file in (tmp_path / "events").rglob("*.jsonl")}

    assert _ends_of_calls(lines, "'a'") == [
        (0, "0.0", "ok", False),
        (0, "0.1/1.0", "ok", False),
        (1, "0.0", "ok", True),
        (1, "0.1/1.0", "ok", True),
        (1, "0.1/2.0", "ok", False),
    ]
    assert [(line["task_attempt"], line["status"], line["replayed"]) for line in calls] == [
        (0, "started", False),
        (1, "started", True),
        (1, "ok", False),
    ]
    assert len({(line["subagent"], line["session"], line["call_id"], line["run_number"]) for line in calls}) == 1
    assert folders == {Path("%4cogged%20job/agent-delegating")}
    failed = [line for line in lines if line["status"] == "failed"]
    assert [(line["task_attempt"], line["what"], line["key"]) for line in failed] == [(0, "execution", "'poison'")]


def _logged(job_identifier: str) -> list[dict[str, Any]]:
    """Return what the logger of the event log got, as the cluster's log has it."""
    texts = [file.read_text(encoding="utf-8") for file in Path(os.environ["FLINK_LOG_DIR"]).glob("*.log")]
    lines = [line.partition("io.github.flinkagents.subagent.events")[2] for text in texts for line in text.splitlines()]
    events = [json.loads(line[line.index("{") :]) for line in lines if line.endswith("}")]
    return [event for event in events if event["job"] == job_identifier]


def test_lines_reach_a_logger_of_their_own(cluster: MiniCluster, board: Board, folder: Folder) -> None:
    """Flink's logging has each line as a message of its own [E7.2]."""
    folder.options = {"event-log": "slf4j", "job-identifier": "told to a logger"}
    folder.feed({"key": "a", "id": 1, "do": [["call", "told"]]})
    job = Job.run(cluster, folder, Scripted())
    job.commit(folder, 1)
    job.cancel()

    until(lambda: len(_logged("told to a logger")) >= 7, "the lines of a run")
    assert [(event["what"], event["status"]) for event in _logged("told to a logger")] == [
        ("run", "started"),
        ("execution", "started"),
        ("call", "started"),
        ("call", "ok"),
        ("event", "sent"),
        ("execution", "ok"),
        ("run", "ok"),
    ]


def test_a_folder_that_cannot_be_made_fails_the_job(
    cluster: MiniCluster, board: Board, folder: Folder, tmp_path: Path
) -> None:
    """With its name and the remedy; nothing has run then [E7.2]."""
    taken = tmp_path / "taken"
    taken.write_text("a file")
    folder.options = {"event-log": "file", "event-log.file.directory": str(taken)}
    job = Job.run(cluster, folder, Scripted(), restart__strategy_type="none")

    failure = job.wait()

    assert failure is not None
    assert str(taken) in failure
    assert "Make event-log.file.directory a folder on each TaskManager's machine" in failure
