"""When a run is asked about next: growth, spread, hints, and runs that a restart takes up again."""

from __future__ import annotations

import pytest

from flink_agents_subagent.subagents.polling import Polling, PollInterval

INTERVAL = PollInterval(first_ms=1_000, factor=2, longest_ms=16_000)


def test_pauses_grow_to_the_longest_one() -> None:
    """By the factor, each shorter by up to a tenth [M3]."""
    polling = Polling(INTERVAL, "run")

    pauses = [polling.first_ms(0), *(polling.next_ms(None) for _ in range(6))]

    for pause, whole in zip(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000], strict=True):
        assert 0.9 * whole <= pause <= whole
    assert polling.waited_ms == sum(pauses)


def test_runs_drift_apart_and_each_does_the_same_again() -> None:
    """The spread is a hash of run and probe: no chance is involved, and no two runs keep step [M3]."""
    first = [Polling(INTERVAL, f"run {number}").first_ms(0) for number in range(1_000)]
    again = [Polling(INTERVAL, f"run {number}").first_ms(0) for number in range(1_000)]

    assert first == again
    assert min(first) < 910 and max(first) > 990 and len(set(first)) > 90


@pytest.mark.parametrize(("age_ms", "pause_ms"), [(2_000, 1_000), (8_000, 4_000), (20_000, 10_000), (10**7, 16_000)])
def test_a_run_that_is_taken_up_again_keeps_its_pace(age_ms: int, pause_ms: int) -> None:
    """Ten thousand of them, waiting for hours, ask spread over the pause that they had reached, not all at once [M3, I7]."""
    first = [Polling(INTERVAL, f"run {number}").first_ms(age_ms) for number in range(1_000)]

    assert 0 < min(first) < 0.05 * pause_ms and 0.95 * pause_ms < max(first) <= pause_ms
    assert 0.45 * pause_ms < sum(first) / len(first) < 0.55 * pause_ms


def test_a_hint_is_never_asked_before() -> None:
    """It counts in place of the pause, shorter or longer, and the pauses grow on behind it [M3]."""
    polling = Polling(INTERVAL, "run")

    assert 100 <= polling.next_ms(100) <= 110
    assert 60_000 <= polling.next_ms(60_000) <= 66_000
    assert 7_200 <= polling.next_ms(None) <= 8_000


def test_a_constant_interval_stays() -> None:
    """With the factor 1 age changes nothing [M3]."""
    polling = Polling(PollInterval(first_ms=500, factor=1, longest_ms=10_000), "run")

    assert 0 < polling.first_ms(10**6) <= 500
    assert 450 <= polling.next_ms(None) <= 500


def test_a_pause_can_end_with_a_time_limit() -> None:
    """What has been waited in all is then the limit, to the millisecond [M6]."""
    polling = Polling(INTERVAL, "run")
    polling.next_ms(None)

    polling.shorten(polling.next_ms(None), 3_000)

    assert polling.waited_ms == 3_000
