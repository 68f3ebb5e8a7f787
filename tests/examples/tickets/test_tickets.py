"""The example file, in process and on Flink."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from examples.tickets.job import FILE, TICKETS
from flink_agents_subagent import load_agents
from flink_agents_subagent.descriptor import check_agents
from flink_agents_subagent.testing import LocalRunner, simulate_crashes

_ROOT = Path(__file__).parents[3]
_INPUTS = [(ticket["customer"], ticket) for ticket in TICKETS]
_EXPECTED = {
    "triage": [
        {"customer": "ada", "desk": "shipping"},
        {"customer": "ada", "desk": "shipping"},
        {"customer": "ada", "answer": "Dear customer, the shipping desk looks into it (a kind answer)."},
        {"customer": "bob", "desk": "billing"},
        {"customer": "bob", "answer": "Dear customer, the billing desk looks into it (a kind answer)."},
        {"customer": "eve", "desk": "general"},
    ],
    "counter": [
        {"customer": "ada", "tickets": 1},
        {"customer": "ada", "tickets": 2},
        {"customer": "bob", "tickets": 1},
        {"customer": "eve", "tickets": 1},
    ],
}


def test_the_file_has_no_problems() -> None:
    """What `flink-agents-subagent check` would print."""
    assert check_agents(FILE) == ()


@pytest.mark.parametrize("name", _EXPECTED)
def test_the_agents_run_in_process(name: str) -> None:
    """With the options of the file; the order within a key is that of its tickets [R1]."""
    file = load_agents(FILE)

    result = LocalRunner(file.agent(name), options=file.options).run(_INPUTS)

    assert [output for key in ("ada", "bob", "eve") for output in result.values_of(key)] == _EXPECTED[name]


def test_the_agents_survive_crashes() -> None:
    """Killed at every point, nothing is drafted twice or lost [R1, E8.2]."""
    assert simulate_crashes(load_agents(FILE).agent("triage"), _INPUTS, seeds=0).differences == []


@pytest.mark.flink
@pytest.mark.timeout(300)
def test_the_job_runs_on_flink() -> None:
    """`python -m examples.tickets.job` applies both agents by name, on a cluster in its process [R1, P8]."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.tickets.job"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )

    assert done.returncode == 0, done.stderr[-4000:]
    expected = [f"{name} {output}" for name, outputs in _EXPECTED.items() for output in outputs]
    assert sorted(done.stdout.splitlines()) == sorted(expected)
