"""PF9: what restarts of a task with the embedded store leave in its process."""

from __future__ import annotations

from bench.ours.agents import EveryKindAgent
from bench.ours.runner import through
from bench.protocol import hand_in, sizes
from bench.restarts import growth

if __name__ == "__main__":
    hand_in(growth(through(EveryKindAgent()), **sizes()))
