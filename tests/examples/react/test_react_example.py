"""The planner, as job code and as YAML: in process, through crashes, and on Flink."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from examples.react.agents import planner
from examples.react.job import FILE, TRIPS
from examples.react.travel import Plan
from flink_agents_subagent import Agent, load_agents
from flink_agents_subagent.chat import BaseChatModelConnection, ChatMessage, MessageRole, ToolMetadata
from flink_agents_subagent.descriptor import check_agents
from flink_agents_subagent.testing import LocalRunner, simulate_crashes
from tests.unit._descriptor.files import parts_of

_ROOT = Path(__file__).parents[3]
_INPUTS = [(trip["city"], trip) for trip in TRIPS]
_PLANS = [
    Plan(city="Oslo", distance_km=1280, hotel="Fjord View", price_eur=320.0, packing="Take warm boots and sunglasses."),
    Plan(
        city="Lisbon", distance_km=2310, hotel="Casa Azul", price_eur=285.0, packing="Take an umbrella and sunglasses."
    ),
]


def of_file() -> Agent:
    """Return the planner of the file."""
    return load_agents(FILE).agent("planner")


def test_the_file_has_no_problems() -> None:
    """What `flink-agents-subagent check` would print [R2]."""
    assert check_agents(FILE) == ()


def test_the_file_gives_the_plan_of_the_code() -> None:
    """With the agent inside [R1, A2, N1]."""
    assert parts_of(of_file()) == parts_of(planner())


@pytest.mark.parametrize("agent", [planner, of_file])
def test_the_planner_runs_in_process(agent: Any) -> None:
    """Tools, the hotels and the packer with its own tool, each called as often as the models ask [A2, A5]."""
    result = LocalRunner(agent()).run(_INPUTS)

    assert [result.values_of(plan.city) for plan in _PLANS] == [[plan] for plan in _PLANS]
    names = [call.name for call in result.calls if call.key == "Oslo"]
    assert {name: names.count(name) for name in names} == {
        "hotels": 1,
        "chat:planner_model": 3,
        "tool:distance_km": 1,
        "tool:exchange_rate": 1,
        "chat:packer_model": 4,
        "tool:forecast": 3,
    }


def test_the_planner_survives_crashes() -> None:
    """Killed at every point, it plans the same, and no recorded call of a model, a tool or the hotels is repeated [A2, A5, N3, E8.2]."""
    assert simulate_crashes(planner(), _INPUTS, seeds=0).differences == []


class Provider(BaseChatModelConnection):
    """Stands for the provider that the environment names."""

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Answer with a plan that says which model was asked."""
        plan = {
            "city": "Oslo",
            "distance_km": 1,
            "hotel": kwargs["model"],
            "price_eur": 1.0,
            "packing": str(len(tools)),
        }
        return ChatMessage(MessageRole.ASSISTANT, json.dumps(plan))


def test_the_environment_names_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection is asked instead of the script, with the model that the environment names [C1]."""
    monkeypatch.setenv("REACT_PROVIDER", f"{__name__}:Provider")
    monkeypatch.setenv("REACT_MODEL", "large-1")

    (plan,) = LocalRunner(planner()).run(_INPUTS[:1]).values

    assert (plan.hotel, plan.packing) == ("large-1", "4")


@pytest.mark.flink
@pytest.mark.timeout(300)
@pytest.mark.parametrize("arguments", [[], ["yaml"]], ids=["code", "yaml"])
def test_the_job_runs_on_flink(arguments: list[str]) -> None:
    """`python -m examples.react.job` plans the trips on a cluster in its process [A2, A5, N1, P8]."""
    done = subprocess.run(  # noqa: S603 - our own example
        [sys.executable, "-m", "examples.react.job", *arguments],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )

    assert done.returncode == 0, done.stderr[-4000:]
    assert sorted(done.stdout.splitlines()) == sorted(plan.model_dump_json() for plan in _PLANS)
