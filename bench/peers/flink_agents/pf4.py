"""PF4: a durable call of 20 ms per input."""

from __future__ import annotations

from bench.flink import Window
from bench.peers.flink_agents.agents import RemoteCallAgent
from bench.peers.flink_agents.runner import run
from bench.protocol import hand_in, sizes


def main() -> None:
    """Run the job."""
    given = sizes()
    threads = given.pop("threads")
    hand_in(run(RemoteCallAgent(), Window(**given), threads=threads))


if __name__ == "__main__":
    main()
