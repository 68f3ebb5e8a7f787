"""What readings say about growth."""

from __future__ import annotations

import pytest

from bench.trend import slope, steady, step


def test_a_leak_shows_in_the_slope() -> None:
    """What grows by a fixed amount a restart, noise beside it, has that slope; a level has none [PF9]."""
    restarts = range(200)

    assert slope(restarts, [50 + 0.3 * number + number % 2 for number in restarts]) == pytest.approx(0.3, abs=0.01)
    assert slope(restarts, [50 + number % 2 for number in restarts]) == pytest.approx(0, abs=0.01)


def test_the_first_quarter_does_not_count() -> None:
    """Readings while caches fill are left out [PF9]."""
    assert steady([[number] for number in range(8)]) == [[2], [3], [4], [5], [6], [7]]


def test_single_readings_do_not_make_a_step() -> None:
    """Threads that come and go do not count, those that stay do [PF9]."""
    assert step([10, 10, 30, 10, 10, 10, 31, 10]) == 0
    assert step([10, 10, 10, 10, 15, 15, 15, 15]) == 5
