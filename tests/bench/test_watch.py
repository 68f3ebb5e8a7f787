"""The thread that looks at a process while a job runs."""

from __future__ import annotations

import threading

import pytest

from bench.watch import Watch


def test_readings_are_taken_while_the_block_runs() -> None:
    """Each reading has its moment, and they come in order."""
    third = threading.Event()
    numbers = iter(range(1_000_000))

    def take() -> tuple[float, ...]:
        number = next(numbers)
        if number == 2:
            third.set()
        return (number,)

    with Watch(take, every_s=0.001) as watch:
        assert third.wait(30)

    assert [number for _, number in watch.readings[:3]] == [0, 1, 2]
    assert [moment for moment, _ in watch.readings] == sorted(moment for moment, _ in watch.readings)


def test_a_reading_that_fails_is_no_short_run() -> None:
    """The exception of a reading comes out of the block."""
    asked = threading.Event()

    def take() -> tuple[float, ...]:
        asked.set()
        raise OSError("no such process")

    with pytest.raises(OSError, match="no such process"), Watch(take, every_s=0.001):
        assert asked.wait(30)
