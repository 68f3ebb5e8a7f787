"""PF4: a durable call of 20 ms per input."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.agents import RemoteCallAgent
from bench.ours.runner import run
from bench.protocol import hand_in, sizes

if __name__ == "__main__":
    hand_in(run(RemoteCallAgent(), Window(**sizes())))
