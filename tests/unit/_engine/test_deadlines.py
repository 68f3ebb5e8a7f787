"""The heap of deadlines behind one timer."""

from __future__ import annotations

import random

from flink_agents_subagent._engine.deadlines import Deadlines


def test_deadlines_fire_by_time_then_by_creation() -> None:
    """Two deadlines of one time fire in the order in which they were set [E2.3]."""
    fired: list[str] = []
    deadlines = Deadlines()
    for when, name in ((30, "c"), (10, "a"), (30, "d"), (20, "b")):
        deadlines.add(when, lambda name=name: fired.append(name))  # type: ignore[misc]

    while (deadline := deadlines.pop_due(30)) is not None:
        deadline.action()

    assert fired == ["a", "b", "c", "d"]


def test_nothing_fires_before_its_time() -> None:
    """A deadline that lies ahead stays [E2.3]."""
    deadlines = Deadlines()
    deadlines.add(10, lambda: None)

    assert deadlines.pop_due(9) is None
    assert deadlines.pop_due(10) is not None


def test_the_host_is_asked_for_a_timer_only_when_an_earlier_one_is_needed() -> None:
    """One timer of the host serves all deadlines [E2.3]."""
    deadlines = Deadlines()
    requests = []
    for when in (50, 60, 40):
        deadlines.add(when, lambda: None)
        requests.append(deadlines.take_request())
    deadlines.fired(40)
    deadlines.pop_due(40)

    assert requests == [50, None, 40]
    assert deadlines.take_request() == 50
    assert deadlines.take_request() is None


def test_a_cancelled_deadline_neither_fires_nor_keeps_what_it_would_have_done() -> None:
    """Cancelling frees the call at once, not when its time-out would have been [PF10]."""
    deadlines = Deadlines()
    deadline = deadlines.add(10, list)
    deadlines.cancel(deadline)
    deadlines.cancel(deadline)

    assert deadlines.pop_due(100) is None
    assert deadline.action is not list
    assert len(deadlines) == 0


def test_cancelled_deadlines_do_not_pile_up() -> None:
    """Calls that end before their time-out leave a heap of the size of what is open [PF10]."""
    deadlines = Deadlines()
    shuffled = random.Random(1)
    kept = [deadlines.add(shuffled.randrange(10**6), lambda: None) for _ in range(20)]
    for _ in range(10_000):
        deadlines.cancel(deadlines.add(shuffled.randrange(10**6), lambda: None))

    popped = []
    while (deadline := deadlines.pop_due(10**6)) is not None:
        popped.append(deadline)

    assert len(deadlines._heap) == 0
    assert popped == sorted(kept)
