"""PF9: what restarts of the trivial job leave in its process: what Flink and its Python do without us."""

from __future__ import annotations

from bench.flink import THREAD_MODE
from bench.peers.pyflink.trivial import handed_on
from bench.protocol import hand_in, sizes
from bench.restarts import growth

if __name__ == "__main__":
    hand_in(growth(handed_on, **sizes(), settings=THREAD_MODE))
