"""M8: how long a hundred calls of 100 ms take that are awaited together."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.runner import run
from bench.ours.subagents import FanOutAgent
from bench.protocol import hand_in, left, sizes


def main() -> None:
    """Run the job."""
    window = Window(**sizes())
    figures = run(FanOutAgent(window.warm_up, window.inputs), window)
    found = left()
    if found["ten_s"] < 1:
        raise RuntimeError(f"ten calls of 100 ms at a time make a hundred in {found['ten_s']:.2f} s: there were more")
    hand_in(found | figures)


if __name__ == "__main__":
    main()
