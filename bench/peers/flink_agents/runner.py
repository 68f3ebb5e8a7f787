# mypy: disable-error-code="import-not-found"
# Flink Agents is in an environment of its own, not in that of the check.
"""Puts a Flink Agents agent between the inputs and the meter."""

from __future__ import annotations

from typing import Any

from flink_agents.api.execution_environment import AgentsExecutionEnvironment

from bench.flink import Window, environment, inputs, java, measure

TOPIC = "action-state"
"""Where its calls are recorded."""
_PATIENCE = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "200",
    "restart-strategy.fixed-delay.delay": "10 ms",
}
"""Its store gives the first requests to the broker 100 ms each, which a JVM that has just started does not keep.

It then opens at a later attempt (https://github.com/apache/flink-agents/pull/1095). No input has come by then.
"""


def run(
    agent: Any, window: Window, *, threads: int | None = None, brokers: str | None = None, memory: bool = False
) -> dict[str, float]:
    """Run the agent and return the figures.

    Args:
        agent: The agent.
        window: What is measured.
        threads: For its calls; None: the default number.
        brokers: Where its calls are recorded; None: nowhere, the default.
        memory: Adds the figures of memory.
    """
    env = environment(None if brokers is None else _PATIENCE)
    agents = AgentsExecutionEnvironment.get_execution_environment(env)
    if threads is not None:
        agents.get_config().set_int("num-async-threads", threads)
    if brokers is not None:
        agents.get_config().set_str("actionStateStoreBackend", "kafka")
        agents.get_config().set_str("kafkaBootstrapServers", brokers)
        agents.get_config().set_str("kafkaActionStateTopic", TOPIC)
    stream = agents.from_datastream(input=inputs(env, window), key_selector=lambda event: event["key"])
    return measure(env, java(stream.apply(agent).to_datastream()), window, memory=memory)
