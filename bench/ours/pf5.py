"""PF5: from the completion of a call to the resumed action, at a steady rate of calls.

The store is the one that acknowledges at once: what a durable one takes is its own affair. Inputs are not held back in
network buffers, which would make bursts of the even rate.
"""

from __future__ import annotations

from bench.flink import Window, environment, inputs, java, measure
from bench.ours.agents import LatencyAgent
from bench.protocol import hand_in, left, sizes
from flink_agents_subagent import AgentsExecutionEnvironment


def main() -> None:
    """Run the job."""
    given = sizes()
    per_second = given.pop("per_second")
    window = Window(**given)
    env = environment({"execution.buffer-timeout.interval": "1 ms"})
    agents = AgentsExecutionEnvironment.get_execution_environment(env).set_option("action-state-store", "memory")
    stream = agents.from_datastream(inputs(env, window, per_second), key_selector=lambda event: event["key"])
    outputs = stream.apply(LatencyAgent(window.warm_up, window.inputs)).to_datastream()
    figures = measure(env, java(outputs), window)
    hand_in(left() | figures)


if __name__ == "__main__":
    main()
