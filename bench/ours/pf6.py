"""PF6: what durable calls append to the store, by the size of their results and by their number in a run."""

from __future__ import annotations

from bench.flink import environment
from bench.ours.agents import RecordingAgent
from bench.ours.runner import kafka_store
from bench.protocol import hand_in, sizes, topic_bytes
from flink_agents_subagent import AgentsExecutionEnvironment

_SMALL, _LARGE = 100, 10_100
_KEYS = 100


def bytes_per_call(topic: str, payload: int, runs: int, calls: int) -> float:
    """Return what the store's topic grows by for a call, when each of the runs makes so many of them."""
    agents = AgentsExecutionEnvironment.get_execution_environment(environment())
    for name, value in kafka_store(**{"store.kafka.topic": topic}).items():
        agents.set_option(name, value)
    orders = [{"key": f"k{number % _KEYS}", "payload": payload, "calls": calls} for number in range(runs)]
    outputs = agents.from_list(orders, key_selector=lambda order: order["key"]).apply(RecordingAgent()).collect()
    if outputs != [calls] * runs:
        raise RuntimeError(f"{len(outputs)} runs instead of {runs} made their calls")
    return topic_bytes(topic) / (runs * calls)


def main(calls: int) -> None:
    """Measure three topics with the same number of calls each, the fences at their beginning included."""
    small = bytes_per_call("small", _SMALL, calls, 1)
    large = bytes_per_call("large", _LARGE, calls, 1)
    many = bytes_per_call("many", _SMALL, calls // 100, 100)
    slope = (large - small) / (_LARGE - _SMALL)
    figures = {"small": small, "large": large, "many": many, "bytes_per_payload_byte": slope}
    hand_in(figures | {"bytes_beside": small - slope * _SMALL, "many_by_one": many / small})


if __name__ == "__main__":
    main(**sizes())
