"""PF3: one durable call per input, recorded in Kafka."""

from __future__ import annotations

from bench.flink import Window
from bench.peers.flink_agents.agents import DurableCallAgent
from bench.peers.flink_agents.runner import run
from bench.protocol import brokers, hand_in, sizes

if __name__ == "__main__":
    hand_in(run(DurableCallAgent(), Window(**sizes()), brokers=brokers()))
