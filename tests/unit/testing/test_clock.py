from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from flink_agents_subagent import ContextMisuseError
from flink_agents_subagent.testing import ManualClock


def test_a_clock_stands_until_it_is_moved() -> None:
    """Time begins where it is told to and moves by seconds or durations [E8.1]."""
    clock = ManualClock(datetime(2030, 1, 1, tzinfo=timezone(timedelta(hours=1))))

    clock.advance(1.5)
    clock.advance(timedelta(hours=1))

    assert clock.now() == datetime(2030, 1, 1, 0, 0, 1, 500_000, tzinfo=timezone.utc)
    assert clock.now_ms == 1_893_456_001_500


def test_a_clock_does_not_move_back() -> None:
    """A negative duration is refused, an earlier time changes nothing [E8.1]."""
    clock = ManualClock()
    before = clock.now_ms

    clock.advance_to(before - 1)
    with pytest.raises(ContextMisuseError, match="does not move back"):
        clock.advance(-1)

    assert clock.now_ms == before


def test_a_clock_needs_a_time_zone() -> None:
    """A local time could mean any instant [E8.1]."""
    with pytest.raises(ContextMisuseError, match="time zone"):
        ManualClock(datetime(2030, 1, 1))  # noqa: DTZ001 - what is refused
