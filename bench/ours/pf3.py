"""PF3: one durable no-op call per input, recorded in Kafka."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.agents import DurableCallAgent
from bench.ours.runner import kafka_store, run
from bench.protocol import hand_in, sizes

if __name__ == "__main__":
    hand_in(run(DurableCallAgent(), Window(**sizes()), options=kafka_store()))
