"""PF10: the cost of an input with one durable call while so many other runs are parked."""

from __future__ import annotations

from bench.flink import Window, environment, inputs, java, measure
from bench.ours.agents import ParkingAgent
from bench.ours.runner import cpu_us_per_input, dearest_by_cheapest
from bench.protocol import hand_in, sizes
from flink_agents_subagent import AgentsExecutionEnvironment

PARKED = (1, 100, 10_000)


def main() -> None:
    """Run one job for each number of parked runs, behind one that warms the JVM up."""
    window = Window(**sizes())
    costs = {parked: _cost(parked, window) for parked in (PARKED[0], *PARKED)}
    hand_in(dearest_by_cheapest(costs))


def _cost(parked: int, window: Window) -> float:
    env = environment()
    agent = ParkingAgent(parked, window.total)
    # Each parked run holds the place of a call.
    agents = AgentsExecutionEnvironment.get_execution_environment(env).set_option("max-concurrent-calls", 20_000)
    source = inputs(env, Window(parked + window.warm_up, window.inputs))
    outputs = agents.from_datastream(source, key_selector=agent.key_of).apply(agent).to_datastream()
    # What was parked ends without output, so that the meter sees the others only.
    return cpu_us_per_input(measure(env, java(outputs), window))


if __name__ == "__main__":
    main()
