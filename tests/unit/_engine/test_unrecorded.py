"""What is remembered of runs that left no record."""

from __future__ import annotations

from flink_agents_subagent._engine.unrecorded import UnrecordedRun, UnrecordedRuns


def run(number: int) -> UnrecordedRun:
    """Return a run."""
    return UnrecordedRun(number, 0, b"")


def taken(runs: UnrecordedRuns, key: bytes, most: int = 1000) -> list[int]:
    """Take the runs of a key; returns their numbers."""
    return [run.run_number for run in runs.take(key, most)]


def test_runs_are_taken_once_and_by_key() -> None:
    """What a journal says, the next one of the key need not say again [E4.4, PF6]."""
    runs = UnrecordedRuns()
    for number in (1, 2):
        runs.add(b"k", run(number))
    runs.add(b"l", run(1))

    assert [taken(runs, b"k"), taken(runs, b"k"), taken(runs, b"l")] == [[1, 2], [], [1]]


def test_runs_are_forgotten_after_two_snapshots() -> None:
    """A restore of neither checkpoint brings back inputs from before both, so that idle keys cost nothing [E4.1, PF10]."""
    runs = UnrecordedRuns()
    for number in (1, 2, 3):
        runs.add(b"k", run(number))
        runs.snapshot_taken()
    runs.add(b"k", run(4))

    assert taken(runs, b"k") == [3, 4]


def test_the_last_runs_of_a_key_are_kept() -> None:
    """A record has a limit, and so has what is kept of a key [E3.13, PF10]."""
    runs = UnrecordedRuns()
    for number in range(1000):
        runs.add(b"k", run(number))
    assert taken(runs, b"k") == list(range(744, 1000))

    for number in range(9):
        runs.add(b"k", run(number))
    assert taken(runs, b"k", 4) == [5, 6, 7, 8]

    runs.add(b"k", run(1))
    assert taken(runs, b"k", 0) == []


def test_what_is_kept_of_all_keys_is_bounded() -> None:
    """The key that began first is forgotten first [PF10]."""
    runs = UnrecordedRuns()
    keys = [b"%d" % number for number in range(1001)]
    for key in keys:
        for number in range(100):
            runs.add(key, run(number))

    kept = [len(taken(runs, key)) for key in keys]

    assert sum(kept) == 100_000
    assert kept[0] == 0
    assert min(kept[1:]) == 100
