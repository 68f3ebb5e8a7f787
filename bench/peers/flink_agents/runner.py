# mypy: disable-error-code="import-not-found"
# Flink Agents is in an environment of its own, not in that of the check.
"""Puts a Flink Agents agent between the inputs and the meter."""

from __future__ import annotations

from typing import Any

from flink_agents.api.execution_environment import AgentsExecutionEnvironment

from bench.flink import Window, environment, inputs, java, measure


def run(agent: Any, window: Window, *, threads: int | None = None, memory: bool = False) -> dict[str, float]:
    """Run the agent with the default settings, but `threads` for its calls where given, and return the figures."""
    env = environment()
    agents = AgentsExecutionEnvironment.get_execution_environment(env)
    if threads is not None:
        agents.get_config().set_int("num-async-threads", threads)
    stream = agents.from_datastream(input=inputs(env, window), key_selector=lambda event: event["key"])
    return measure(env, java(stream.apply(agent).to_datastream()), window, memory=memory)
