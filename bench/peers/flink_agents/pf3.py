"""PF3: one durable call per input, recorded in Kafka."""

from __future__ import annotations

from bench.flink import Window
from bench.peers.flink_agents.agents import DurableCallAgent
from bench.peers.flink_agents.runner import TOPIC, run
from bench.protocol import brokers, hand_in, sizes
from e2e.harness.topic_tool import TopicTool

_PARTITIONS = 64
"""The default of its store, which does not come to creating the topic in the time that it gives the broker."""

if __name__ == "__main__":
    TopicTool(brokers()).create(TOPIC, _PARTITIONS, 1)
    hand_in(run(DurableCallAgent(), Window(**sizes()), brokers=brokers()))
