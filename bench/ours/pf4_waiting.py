"""PF4: the CPU while many runs wait for their calls."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.agents import WaitingAgent
from bench.ours.runner import run
from bench.protocol import hand_in, left, sizes


def main() -> None:
    """Run the job."""
    waiting = sizes()["waiting"]
    figures = run(WaitingAgent(), Window(warm_up=0, inputs=waiting, keys=waiting))
    hand_in({"waiting": waiting} | left() | figures)


if __name__ == "__main__":
    main()
