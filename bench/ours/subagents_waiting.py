"""M3: what it costs that many runs of a service are waited for, and how soon the end of one is noticed."""

from __future__ import annotations

from bench.flink import Window
from bench.ours.runner import run
from bench.ours.subagents import POLL_S, AskingAgent
from bench.protocol import hand_in, left, sizes


def main() -> None:
    """Run the job."""
    waiting = sizes()["waiting"]
    figures = run(AskingAgent(waiting), Window(warm_up=0, inputs=waiting, keys=waiting))
    found = left()
    found["resumed_late_ms"] = (found["resumed_s"] - POLL_S) * 1000
    found["cpu_us_per_probe"] = 1e6 * (found["cores_probing"] - found["cores_waiting"]) / found["probes_per_second"]
    hand_in({"waiting": waiting} | found | figures)


if __name__ == "__main__":
    main()
