"""PF1: the trivial action."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.agents import TrivialAgent
from bench.ours.runner import run
from bench.protocol import hand_in, sizes

if __name__ == "__main__":
    hand_in(run(TrivialAgent(), Window(**sizes())))
