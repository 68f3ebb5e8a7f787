"""Puts an agent between the inputs and the meter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyflink.datastream import DataStream

from bench.flink import Window, environment, inputs, java, measure
from bench.protocol import brokers
from flink_agents_subagent import Agent, AgentsExecutionEnvironment


def kafka_store(**more: str) -> dict[str, str]:
    """Return the options that have calls recorded in the job's Kafka broker."""
    return {"action-state-store": "kafka", "store.kafka.bootstrap-servers": brokers(), **more}


def through(agent: Agent, options: Mapping[str, str] | None = None) -> Callable[[DataStream], DataStream]:
    """Return what puts the agent, with these options or the default ones, behind a stream of inputs."""

    def work(stream: DataStream) -> DataStream:
        agents = AgentsExecutionEnvironment.get_execution_environment(stream.get_execution_environment())
        for name, value in (options or {}).items():
            agents.set_option(name, value)
        return agents.from_datastream(stream, key_selector=lambda event: event["key"]).apply(agent).to_datastream()

    return work


def run(
    agent: Agent,
    window: Window,
    *,
    options: Mapping[str, str] | None = None,
    memory: bool = False,
    settings: Mapping[str, str] | None = None,
    per_second: int | None = None,
) -> dict[str, float]:
    """Run the agent with these options, or the default ones, and return the figures.

    Args:
        agent: The agent.
        window: What is measured.
        options: Of the agents.
        memory: Adds the figures of memory.
        settings: Of Flink.
        per_second: How many inputs come in a second; None: as many as are taken.
    """
    env = environment(settings)
    outputs = through(agent, options)(inputs(env, window, per_second))
    return measure(env, java(outputs), window, memory=memory)


def cpu_us_per_input(figures: dict[str, float]) -> float:
    """Return the cost of an input. It is CPU time, which other work on the machine hardly changes."""
    return 1e6 * figures["cpu_seconds"] / figures["inputs"]


def dearest_by_cheapest(costs: Mapping[int, float]) -> dict[str, float]:
    """Return the figures of a cost per input, in CPU microseconds, that is to be the same for all sizes."""
    each = {f"cpu_us_at_{size}": cost for size, cost in costs.items()}
    return each | {"dearest_by_cheapest": max(costs.values()) / min(costs.values())}
