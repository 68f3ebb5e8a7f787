"""The journals that wait for their inputs."""

from __future__ import annotations

from flink_agents_subagent._engine.unclaimed import UnclaimedJournal, UnclaimedJournals


def journal(number: int, of: bytes = b"a", restored_ms: int = 0) -> UnclaimedJournal:
    """Return a journal."""
    return UnclaimedJournal(number, (), 0, of, restored_ms)


def test_identical_inputs_take_the_oldest_journal_first() -> None:
    """Whatever the order in which journals were found, or given back [E4.4]."""
    journals = UnclaimedJournals()
    for number in (5, 3, 4):
        journals.add(b"k", journal(number))
    journals.add(b"k", journal(1, of=b"b"))

    first = journals.claim(b"k", b"a")
    assert first == journal(3)
    journals.add(b"k", journal(3))

    assert [journals.claim(b"k", b"a") for _ in range(4)] == [journal(3), journal(4), journal(5), None]
    assert journals.of(b"k") == [journal(1, of=b"b")]
    assert [journals.has(b"k"), journals.has(b"l"), journals.claim(b"l", b"a")] == [True, False, None]


def test_free_numbers_are_those_that_no_journal_has() -> None:
    """A journal keeps its number for its input [E5.2]."""
    journals = UnclaimedJournals()
    for number in (2, 3, 5):
        journals.add(b"k", journal(number))

    assert [journals.free_number(b"k", above) for above in range(6)] == [1, 4, 4, 4, 6, 6]
    assert journals.free_number(b"l", 7) == 8


def test_a_change_is_told_once() -> None:
    """What is added, claimed or expired belongs into the next checkpoint [E4.4]."""
    journals = UnclaimedJournals()
    changes = []
    journals.add(b"k", journal(1))
    journals.add(b"l", journal(1, restored_ms=1))
    changes.append(journals.take_changed())
    journals.claim(b"k", b"b")
    changes.append(journals.take_changed())
    journals.claim(b"k", b"a")
    changes.append(journals.take_changed())
    assert journals.earliest_restored_ms() == 1
    assert journals.expire(1) == [(b"l", journal(1, restored_ms=1))]
    changes.append(journals.take_changed())

    assert changes == [{b"k", b"l"}, set(), {b"k"}, {b"l"}]
    assert len(journals) == 0
