"""The simulator's checks of calls and records."""

from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent import Agent, InputEvent
from flink_agents_subagent._engine.effects import Append, CallOrigin, StartCall
from flink_agents_subagent._engine.record import JournalHead, Record, encode_record
from flink_agents_subagent.testing.activity import Activity
from flink_agents_subagent.testing.job import make_job, source_of
from flink_agents_subagent.testing.ledger import Ledger, Violation
from flink_agents_subagent.testing.progress import Start

SOURCE = source_of([("ada", 0), ("ada", 1), ("ben", 0)])


def ledger(*, is_ordered: bool = True) -> Ledger:
    """Return a ledger over three inputs."""
    return Ledger(
        make_job(Agent("sample").add_action("act", InputEvent, lambda _, __: None), None), SOURCE, is_ordered=is_ordered
    )


def start(element: int, run_number: int | None) -> Start:
    """Return the run of an input."""
    return Start(SOURCE[element], 0, run_number)


def call(element: int, run_number: int, **origin: Any) -> StartCall:
    """Return the first call of a run."""
    made = CallOrigin(SOURCE[element].key, run_number, 0, 0, "pay", b"5", 1, False, False)._replace(**origin)
    return StartCall(1, lambda: None, False, "pay", made)


def test_a_call_that_comes_back_with_another_key_is_found() -> None:
    """The number of its run is what its idempotency key is made of; nothing needs to be recorded to see it [E8.2, E5.3]."""
    found = ledger()
    found.starting(call(1, 2), 1, start(1, 2))
    found.starting(call(1, 2), 2, start(1, 2))
    assert found.repeated == 1

    with pytest.raises(Violation, match=r"input 1 of key 'ada' has number 3 and had number 2 in an earlier life"):
        found.starting(call(1, 3), 3, start(1, 3))


def test_keys_may_change_when_the_order_does() -> None:
    """That is what is not promised [E5.3]."""
    found = ledger(is_ordered=False)
    found.starting(call(1, 2), 1, start(1, 2))
    found.starting(call(1, 1), 2, start(1, 1))

    assert found.repeated == 0


def test_keys_may_change_when_a_run_before_needs_no_number_any_more() -> None:
    """It went by the time, and left no record that would bring the time back; other keys are not affected [E2.3, E5.3]."""
    found = ledger()
    found.finishing(start(0, 1))
    found.starting(call(1, 2), 1, start(1, 2))
    found.starting(call(2, 1), 1, start(2, 1))
    found.finishing(start(0, None))
    found.starting(call(1, 1), 2, start(1, 1))

    with pytest.raises(Violation, match="key 'ben'"):
        found.starting(call(2, 2), 2, start(2, 2))


def test_a_call_with_a_reconciler_needs_its_intent() -> None:
    """Before it is made for the first time [E3.6]."""
    with pytest.raises(Violation, match="before its intent is durable"):
        ledger().starting(call(0, 1, has_reconciler=True), 1, start(0, 1))


def test_attempts_are_made_in_turn() -> None:
    """A second attempt needs the record of the first [E3.9]."""
    with pytest.raises(Violation, match="makes attempt 2 after 0 recorded ones"):
        ledger().starting(call(0, 1, attempt=2), 1, start(0, 1))


def append(record: Record, number: int) -> Append:
    """Return the first run's record as the store gets it."""
    record.execution, record.slot, record.function_id, record.fingerprint = 0, 0, "pay", b"5"
    if number == 1:
        record.head = JournalHead(b"0" * 16, 0)
    return Append(number, SOURCE[0].key, 1, number, encode_record(record))


def test_an_intent_of_an_earlier_life_leaves_it_to_the_reconciler() -> None:
    """Neither the function may be called again, nor another intent be written [E3.6]."""
    found = ledger()
    found.appending(append(Record("i"), 1), 1)
    found.starting(call(0, 1, has_reconciler=True), 1, start(0, 1))

    with pytest.raises(Violation, match="its reconciler decides"):
        found.starting(call(0, 1, has_reconciler=True), 2, start(0, 1))
    with pytest.raises(Violation, match="a second intent"):
        found.appending(append(Record("i"), 2), 2)
    found.starting(call(0, 1, has_reconciler=True, is_reconciler=True), 2, start(0, 1))


def test_a_run_without_records_may_come_to_another_call() -> None:
    """It begins anew, at another time; only what is durable holds it to what it did [E2.3, E3.6]."""
    found = ledger()
    found.starting(call(0, 1, function_id="give"), 1, start(0, 1))
    found.appending(append(Record("i"), 1), 2)

    found.starting(call(0, 1, has_reconciler=True), 2, start(0, 1))


@pytest.mark.parametrize("second", [Record("o", status="ok"), Record("a"), Record("i")])
def test_a_recorded_call_is_over(second: Record) -> None:
    """It is not made again, and nothing more is recorded of it [E3.6]."""
    found = ledger()
    found.starting(call(0, 1), 1, start(0, 1))
    found.appending(append(Record("o", status="ok"), 1), 1)

    with pytest.raises(Violation, match="record 1 holds its outcome"):
        found.starting(call(0, 1), 1, start(0, 1))
    with pytest.raises(Violation, match="whose outcome record 1 holds"):
        found.appending(append(second, 2), 1)


def test_records_are_numbered_without_gaps() -> None:
    """A record out of turn would be cut off by every reader [S1.2]."""
    with pytest.raises(Violation, match=r"record 2 of run 1 .* follows record 0"):
        ledger().appending(append(Record("i"), 2), 1)


def test_nothing_goes_on_before_the_acknowledgement() -> None:
    """The end of a call and a timer bring a record; what they mean comes after it [E2.2]."""
    found = ledger()
    found.acting(Activity.ACKNOWLEDGE)
    found.acting(Activity.INPUT)

    with pytest.raises(Violation, match="before the record of it is durable"):
        found.acting(Activity.END_CALL)


def test_a_record_may_come_again_after_a_restore() -> None:
    """As it was; the same life must not append it twice, nor a later one something else in its place [S1.2, S1.3, E4.2]."""
    found = ledger()
    append = Append(1, SOURCE[0].key, 1, 1, encode_record(Record("t", head=JournalHead(b"", 0))))
    found.appending(append, 1)
    found.appending(append, 2)

    with pytest.raises(Violation, match="record 1 of run 1 of key 'ada' follows record 1 in the store"):
        found.appending(append, 1)
    with pytest.raises(Violation, match="follows record 1"):
        found.appending(append._replace(payload=encode_record(Record("t"))), 3)
