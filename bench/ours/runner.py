"""Puts an agent between the inputs and the meter."""

from __future__ import annotations

from collections.abc import Mapping

from bench.flink import Window, environment, inputs, java, measure
from bench.protocol import brokers
from flink_agents_subagent import Agent, AgentsExecutionEnvironment


def kafka_store(**more: str) -> dict[str, str]:
    """Return the options that have calls recorded in the job's Kafka broker."""
    return {"action-state-store": "kafka", "store.kafka.bootstrap-servers": brokers(), **more}


def run(
    agent: Agent, window: Window, *, options: Mapping[str, str] | None = None, memory: bool = False
) -> dict[str, float]:
    """Run the agent with these options, or the default ones, and return the figures."""
    env = environment()
    agents = AgentsExecutionEnvironment.get_execution_environment(env)
    for name, value in (options or {}).items():
        agents.set_option(name, value)
    stream = agents.from_datastream(inputs(env, window), key_selector=lambda event: event["key"])
    return measure(env, java(stream.apply(agent).to_datastream()), window, memory=memory)


def dearest_by_cheapest(costs: dict[int, float]) -> dict[str, float]:
    """Return the figures of a cost per input, in CPU microseconds, that is to be the same for all sizes."""
    each = {f"cpu_us_at_{size}": cost for size, cost in costs.items()}
    return each | {"dearest_by_cheapest": max(costs.values()) / min(costs.values())}


def cpu_us_per_input(figures: dict[str, float]) -> float:
    """Return the cost of an input. It is CPU time, which other work on the machine hardly changes."""
    return 1e6 * figures["cpu_seconds"] / figures["inputs"]
