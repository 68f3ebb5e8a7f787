from __future__ import annotations

from flink_agents_subagent.testing.http.fault import Fault, FaultQueue


def _takes(queue: FaultQueue, on: str, count: int) -> list[str]:
    return [
        "" if met.fault is None else met.fault.kind for met in (queue.take(lambda f: f.on == on) for _ in range(count))
    ]


def test_faults_come_in_order_and_as_often_as_asked() -> None:
    """Each request meets the first fault that is for it; one that is used up makes way for the next."""
    queue = FaultQueue()
    queue.replace([Fault("drop", "a", times=2), Fault("reset", "b"), Fault("hold", "a")])

    assert _takes(queue, "a", 4) == ["drop", "drop", "hold", ""]
    assert _takes(queue, "b", 2) == ["reset", ""]


def test_a_share_hits_some_and_the_same_ones_again() -> None:
    """About the asked part is hit; the same seed hits the same requests, and those that are spared do not count."""
    hits = []
    for seed in (1, 1, 2):
        queue = FaultQueue(seed)
        queue.replace([Fault("drop", "a", times=1000, share=0.3)])
        hits.append(_takes(queue, "a", 500))

    assert hits[0] == hits[1] != hits[2]
    assert 100 < hits[0].count("drop") < 200


def test_replacing_releases_what_is_held() -> None:
    """What an earlier fault holds is let go, what a later one holds is not."""
    queue = FaultQueue()
    queue.replace([Fault("hold", "a")])
    first = queue.take(lambda _: True)

    queue.replace([Fault("hold", "a")])
    second = queue.take(lambda _: True)

    assert (first.released.is_set(), second.released.is_set()) == (True, False)
