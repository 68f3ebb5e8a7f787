"""Test kit for agents: run them in process, in virtual time, and kill them at every point (E8). Needs neither Flink nor Java."""

from flink_agents_subagent.testing.clock import ManualClock
from flink_agents_subagent.testing.http import Fault, JobServer, RunRequest
from flink_agents_subagent.testing.report import SimulationReport
from flink_agents_subagent.testing.result import LocalCall, LocalOutput, LocalResult
from flink_agents_subagent.testing.runner import LocalRunner
from flink_agents_subagent.testing.scripted_model import ScriptedModel, ScriptedRequest
from flink_agents_subagent.testing.simulator import simulate_crashes
from flink_agents_subagent.testing.stand_in import with_stand_ins

__all__ = [
    "Fault",
    "JobServer",
    "LocalCall",
    "LocalOutput",
    "LocalResult",
    "LocalRunner",
    "ManualClock",
    "RunRequest",
    "ScriptedModel",
    "ScriptedRequest",
    "SimulationReport",
    "simulate_crashes",
    "with_stand_ins",
]
