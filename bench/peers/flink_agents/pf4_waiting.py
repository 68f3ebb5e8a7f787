"""PF4: the CPU while runs wait for their calls, one thread a call."""

from __future__ import annotations

from bench.flink import Window
from bench.peers.flink_agents.agents import WaitingAgent
from bench.peers.flink_agents.runner import run
from bench.protocol import hand_in, left, sizes


def main() -> None:
    """Run the job."""
    waiting = sizes()["waiting"]
    figures = run(WaitingAgent(), Window(warm_up=0, inputs=waiting, keys=waiting), threads=waiting)
    hand_in({"waiting": waiting} | left() | figures)


if __name__ == "__main__":
    main()
