"""PF2: one durable call per input, no store, the default number of threads."""

from __future__ import annotations

from bench.flink import Window
from bench.peers.flink_agents.agents import DurableCallAgent
from bench.peers.flink_agents.runner import run
from bench.protocol import hand_in, sizes

if __name__ == "__main__":
    hand_in(run(DurableCallAgent(), Window(**sizes())))
