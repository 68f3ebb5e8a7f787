"""Faults of users, of their code and of their set-up: the task ends with a message that names the thing and the remedy, the process lives on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyflink.common import Types

from flink_agents_subagent import Agent
from tests.flink.agents import Direct, Scripted
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster

pytestmark = pytest.mark.flink

NO_RESTART = {"restart__strategy_type": "disable"}


def _failure(cluster: MiniCluster, folder: Folder, agent: Agent, do: list[list[Any]], **options: str) -> str:
    """Run one input and return the job's failure."""
    flink = cluster.environment(**{"restart__strategy_type": "none", **options})
    stream = flink.from_collection([json.dumps({"key": "a", "id": 1, "do": do})], Types.STRING())
    failure = Job.attach(cluster, folder, agent, flink, stream).wait()
    assert failure is not None
    return failure


def test_an_exception_of_an_action_reaches_the_job(cluster: MiniCluster, folder: Folder) -> None:
    """The failure shows agent, action and the author's own traceback [E1.8, P5]."""
    failure = _failure(cluster, folder, Direct(), [["raise", "card declined"]])

    assert "ActionError" in failure
    assert "direct" in failure
    assert "follow" in failure
    assert "ScriptedError: card declined" in failure
    assert "raise ScriptedError(argument)" in failure


@pytest.mark.parametrize(
    ("agent", "do", "text"),
    [
        (Direct(), [["exit", "left the action"]], "left the action"),
        (Scripted(), [["exit_in", "thread"]], "left from a thread"),
        (Scripted(), [["exit_in", "loop"]], "left from the loop"),
    ],
    ids=["action", "thread", "loop"],
)
def test_a_system_exit_ends_the_task_and_not_the_process(
    cluster: MiniCluster, board: Board, folder: Folder, agent: Agent, do: list[list[Any]], text: str
) -> None:
    """`SystemExit` in an action, on a worker thread and on the background loop fails the task; the TaskManager lives [P5]."""
    failure = _failure(cluster, folder, agent, do)

    assert "SystemExit" in failure
    assert text in failure
    assert cluster.java.requestClusterOverview().get().getNumTaskManagersConnected() == 1


def test_another_python_version_is_refused(cluster: MiniCluster, folder: Folder) -> None:
    """An interpreter of another minor version is named with both versions and the option [P2, E4.8]."""
    python = _fake_python(folder.path, '{"version": "3.9", "sites": [], "pemja": true}')

    failure = _failure(cluster, folder, Direct(), [["emit", "x"]], python_executable=str(python))

    assert f"{python}, is version 3.9; the job was submitted with version 3." in failure
    assert "python.executable" in failure


def test_an_interpreter_without_our_packages_is_refused(cluster: MiniCluster, folder: Folder) -> None:
    """An interpreter without pemja is named with what to install [P2]."""
    version = ".".join(map(str, sys.version_info[:2]))
    python = _fake_python(folder.path, json.dumps({"version": version, "sites": [], "pemja": False}))

    failure = _failure(cluster, folder, Direct(), [["emit", "x"]], python_executable=str(python))

    assert f"{python}, has no package pemja. Install flink-agents-subagent" in failure


def test_a_missing_interpreter_is_named(cluster: MiniCluster, folder: Folder) -> None:
    """An interpreter that the TaskManager does not have is named with the option [P2]."""
    failure = _failure(cluster, folder, Direct(), [["emit", "x"]], python_executable="/no/such/python")

    assert "`/no/such/python` cannot be used" in failure
    assert "python.executable" in failure


def test_a_store_that_cannot_be_written_is_named(cluster: MiniCluster, folder: Folder) -> None:
    """A store folder that cannot be made fails the job with the folder [S3.1]."""
    (folder.path / "store").rmdir()
    (folder.path / "store").write_text("a file in the way")

    failure = _failure(cluster, folder, Direct(), [["block", "never made"]])

    assert str(folder.path / "store") in failure


def _fake_python(path: Path, answer: str) -> Path:
    python = path / "python"
    python.write_text(f"#!/bin/sh\necho '{answer}'\n")
    python.chmod(0o700)
    return python
