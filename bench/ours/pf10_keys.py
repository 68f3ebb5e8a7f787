"""PF10: the cost of an input at so many keys that each have something in short-term memory."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.agents import CountingAgent
from bench.ours.runner import cpu_us_per_input, dearest_by_cheapest, run
from bench.protocol import hand_in, sizes

KEYS = (1_000, 100_000, 1_000_000)


def main() -> None:
    """Run one job for each number of keys, behind one that warms the JVM up."""
    given = sizes()
    costs = {keys: _cost(keys, **given) for keys in (KEYS[0], *KEYS)}
    hand_in(dearest_by_cheapest(costs))


def _cost(keys: int, warm_up: int, inputs: int) -> float:
    # Every key has been seen before the measured inputs come.
    return cpu_us_per_input(run(CountingAgent(), Window(max(warm_up, keys), inputs, keys)))


if __name__ == "__main__":
    main()
