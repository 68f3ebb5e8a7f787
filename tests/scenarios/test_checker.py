"""A checker that finds nothing proves nothing: each promise is broken once."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from e2e.harness.journal import Record
from e2e.scenarios.checker import Evidence, Interruption, Report, Rules, check, recorded_calls
from e2e.scenarios.inputs import Call, expect
from flink_agents_subagent.testing.http import Request

_ORDERS = [
    {"id": "0", "key": "A", "nap": 0.0, "settles": True, "padding": 0},
    {"id": "1", "key": "A", "nap": 0.0, "settles": False, "padding": 0},
]
_EXPECTED = expect(_ORDERS)
_BODY = {call: body for body, call in _EXPECTED.calls.items()}
_FIRST, _SECOND = ("0", 1), ("1", 2)
_ALL = (*(Call(_FIRST, desk) for desk in "abcd"), *(Call(_SECOND, desk) for desk in "abc"))


def _key(call: Call) -> str:
    return f"{call.run[0]}{call.desk}"


def _request(call: Call, at_ns: int) -> Request:
    return Request(at_ns, at_ns, "POST", f"/0/{call.desk}", _key(call), _BODY[call], at_ns + 5, 200)


def _death(at_ns: int, *recorded: str) -> Interruption:
    return Interruption(at_ns, at_ns + 1, frozenset(recorded))


@dataclass
class _Run:
    """A run without any fault, to be broken."""

    def __post_init__(self) -> None:
        self.requests = [_request(call, 10 * place) for place, call in enumerate(_ALL)]
        self.outputs = list(_EXPECTED.outputs)
        self.interruptions: list[Interruption] = []
        self.recorded = {_key(call) for call in _ALL}

    def repeat(self, call: Call, at_ns: int) -> None:
        """Have a call come again."""
        self.requests = sorted([*self.requests, _request(call, at_ns)], key=lambda request: request.received_ns)

    def report(self, rules: Rules | None = None) -> Report:
        """Check it."""
        evidence = Evidence(self.outputs, self.requests, self.interruptions, frozenset(self.recorded))
        return check(_EXPECTED, evidence, rules or Rules())

    def problems(self, rules: Rules | None = None) -> str:
        """Check it and return what is wrong."""
        return "\n".join(self.report(rules).problems)


def test_an_undisturbed_run_has_no_problem() -> None:
    """Each input gives its output and its calls, and nothing else happens."""
    assert _Run().report() == Report(2, 2, 7, 0, 0, 0, ())


def test_a_call_in_flight_may_come_again_after_a_death() -> None:
    """A call of which no outcome was recorded is repeated, counted, and no problem."""
    run = _Run()
    run.interruptions = [_death(65, *(_key(call) for call in _ALL[:5]))]
    run.repeat(Call(_SECOND, "b"), 70)

    report = run.report()

    assert report.problems == ()
    assert (report.repeated_in_flight, report.repeated_recorded) == (1, 0)
    assert "though nothing died" in run.problems(Rules(repeats_in_flight=False))


def test_a_recorded_call_that_comes_again_is_found() -> None:
    """What the store held at the death may not be asked again."""
    run = _Run()
    run.interruptions = [_death(65, *(_key(call) for call in _ALL))]
    run.repeat(Call(_SECOND, "b"), 70)

    report = run.report()

    assert "1 calls were made again although they were recorded: 1b" in report.problems[0]
    assert (report.repeated_in_flight, report.repeated_recorded) == (0, 1)


def test_a_call_that_comes_after_a_later_one_of_its_run_is_found() -> None:
    """The next desk is asked when the outcome is recorded, so that no store is needed to know that it was."""
    run = _Run()
    run.interruptions = [Interruption(65, 66, is_death=False)]
    run.repeat(Call(_FIRST, "a"), 70)

    assert "1 calls were made again although they were recorded: 0a" in run.problems()


def test_a_repeat_without_an_interruption_is_found() -> None:
    """Nothing but an interruption between the two requests explains a repeat."""
    run = _Run()
    run.interruptions = [_death(5), _death(90, *(_key(call) for call in _ALL))]
    run.repeat(Call(_SECOND, "b"), 70)

    assert "1 calls were made again without an interruption in between: 1b" in run.problems()


def test_a_call_with_a_reconciler_may_never_come_again() -> None:
    """Where a reconciler decides, a desk is asked once."""
    run = _Run()
    run.interruptions = [_death(65, *(_key(call) for call in _ALL[:5]))]
    run.repeat(Call(_SECOND, "c"), 70)

    assert "a call with a reconciler was made again" in run.problems()


def test_lost_and_doubled_outputs_are_found() -> None:
    """Each output is there once, with the right content."""
    run = _Run()
    run.outputs = [run.outputs[0], run.outputs[0]]

    assert "1 outputs of the plain loop are missing" in run.problems()
    assert "1 outputs are wrong, or there too often" in run.problems()
    assert run.report().lost == 1


def test_memory_that_was_applied_twice_is_found() -> None:
    """The number of an order comes from memory; a wrong one is a wrong output."""
    run = _Run()
    run.outputs[1] = json.dumps({**json.loads(run.outputs[1]), "number": 3})

    assert "1 outputs are wrong" in run.problems()


def test_numbers_may_be_exchanged_only_where_the_order_may_change() -> None:
    """Inputs that came in another order have each other's numbers, but each number is there once."""
    run = _Run()
    first, second = (json.loads(line) for line in run.outputs)
    run.outputs = [json.dumps({**first, "number": 2}), json.dumps({**second, "number": 1})]

    assert "2 outputs are wrong" in run.problems()
    assert run.problems(Rules(order_may_change=True)) == ""
    run.outputs[1] = json.dumps({**second, "number": 2})
    assert "1 outputs are wrong" in run.problems(Rules(order_may_change=True))


def test_lost_and_unknown_calls_are_found() -> None:
    """Each call is made, and none that nothing asked for."""
    run = _Run()
    run.requests[-1] = replace(run.requests[-1], body="of somebody else")

    assert "1 calls were never made: Call(run=('1', 2), desk='c')" in run.problems()
    assert "1 calls were made that nothing asked for: /0/c" in run.problems()
    assert run.report().lost == 1


def test_another_key_for_the_same_call_is_found() -> None:
    """A repeat comes under the key of the first time, unless the source changed the order [E5.3]."""
    run = _Run()
    run.interruptions = [_death(65, *(_key(call) for call in _ALL[:5]))]
    run.repeat(Call(_SECOND, "b"), 70)
    run.requests[-1] = replace(run.requests[-1], key="another")
    run.recorded.add("another")

    assert "1 calls were made under several keys" in run.problems()
    assert run.problems(Rules(order_may_change=True)) == ""


def test_one_key_for_two_calls_is_found() -> None:
    """Different calls have different keys [E5.3]."""
    run = _Run()
    run.requests[-1] = replace(run.requests[-1], key=run.requests[0].key)

    assert "1 keys were used for several calls: 0a" in run.problems()


def test_a_run_that_went_on_before_its_record_is_found() -> None:
    """When a later call of the run was seen, the earlier one must be in the store at the death [S1.1]."""
    run = _Run()
    run.interruptions = [_death(100, "0a", "0b", "0d", "1a")]

    assert "1 calls were not recorded when their run went on: 0c" in run.problems()


def test_a_record_without_an_answer_is_found() -> None:
    """What no desk has answered cannot be recorded; if it seems so, the store was misread."""
    run = _Run()
    run.requests[3] = replace(run.requests[3], answered_ns=None, status=None)
    run.interruptions = [_death(100, *(_key(call) for call in _ALL))]

    assert "1 calls were recorded that no desk had answered: 0d" in run.problems()


def test_a_call_that_is_not_recorded_in_the_end_is_found() -> None:
    """All is recorded when all is done."""
    run = _Run()
    run.recorded.discard("1c")

    assert "1 calls are not recorded in the end: 1c" in run.problems()


def test_calls_of_changed_code_must_be_told_by_the_outputs() -> None:
    """What changed code asks besides is in the output of the run exactly if it was asked."""
    run = _Run()
    (body,) = (body for body, call in _EXPECTED.optional.items() if call == Call(_SECOND, "e"))
    run.requests.append(replace(run.requests[-1], path="/0/e", key="1e", body=body))
    run.recorded.add("1e")

    assert "1 outputs do not tell which calls of changed code were made" in run.problems()
    output = json.loads(run.outputs[1])
    output["answers"]["e"] = "c0ffee"
    run.outputs[1] = json.dumps(output)
    assert run.problems() == ""


def test_outcomes_are_known_by_their_idempotency_key() -> None:
    """A durable id names desk and key, a sub-agent's call id is the key; other records are no outcomes."""
    records = [
        Record(b"sA", 1, 1, "o", "b:key-1", "ok"),
        Record(b"sA", 1, 2, "o", "key-2", "ok"),
        Record(b"sA", 1, 3, "i", "c:key-3", ""),
    ]

    assert recorded_calls(records) == {"key-1", "key-2"}
