from __future__ import annotations

from dataclasses import replace

import pytest

from examples.demo.checker import Kill, Report, check
from examples.demo.expected import Call, Expectation
from flink_agents_subagent.testing.http import Request

_SECOND = 1_000_000_000
_CALLS = {Call("/seats", f"body-{n}"): f"flight-{n}" for n in (1, 2, 3)}
_EXPECTATION = Expectation(
    outputs=('{"flight": "flight-1"}', '{"flight": "flight-2"}', '{"flight": "flight-3"}'), calls=_CALLS
)


def _request(number: int, at_s: float, *, answered: bool = True) -> Request:
    received_ns = int(at_s * _SECOND)
    body, key = f"body-{number}", f"key-{number}"
    request = Request(received_ns, received_ns, "POST", "/seats", key, body)
    return replace(request, answered_ns=received_ns + _SECOND // 2, status=200) if answered else request


# The first call is recorded and its output committed when the process dies, the second is under way, the third to come.
_KILL = Kill(10 * _SECOND, 11 * _SECOND, recorded=frozenset({"key-1"}), committed=frozenset({"flight-1"}))
_REQUESTS = (_request(1, 1), _request(2, 9, answered=False), _request(2, 20), _request(3, 21))


def _checked(
    outputs: tuple[str, ...] = _EXPECTATION.outputs, requests: tuple[Request, ...] = _REQUESTS, kill: Kill = _KILL
) -> Report:
    return check(_EXPECTATION, outputs, requests, [kill])


def test_a_good_run_has_no_problem() -> None:
    """A run with everything once, and one unrecorded call repeated, holds."""
    report = _checked()

    assert report.problems == ()
    assert (report.inputs, report.outputs, report.distinct_outputs, report.calls) == (3, 3, 3, 3)
    assert (report.recorded_at_kill, report.repeated_recorded, report.repeated_in_flight) == (1, 0, 1)


def test_the_form_of_an_output_does_not_matter() -> None:
    """An output is compared as JSON, not as text."""
    outputs = ('{"flight":"flight-1"}', *_EXPECTATION.outputs[1:])

    assert _checked(outputs).problems == ()


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        pytest.param(_EXPECTATION.outputs[1:], "1 outputs of the plain loop are missing", id="missing"),
        pytest.param((*_EXPECTATION.outputs, _EXPECTATION.outputs[0]), "1 outputs are wrong, or there too", id="twice"),
        pytest.param(('{"flight": "flight-9"}', *_EXPECTATION.outputs[1:]), "1 outputs are wrong", id="wrong"),
    ],
)
def test_doctored_outputs_are_found(outputs: tuple[str, ...], problem: str) -> None:
    """An output that is missing, there twice or wrong is a problem."""
    assert problem in " ".join(_checked(outputs).problems)


def test_a_repeated_recorded_call_is_found() -> None:
    """A call that was recorded when the process died and is made again breaks the promise."""
    report = _checked(requests=(*_REQUESTS, _request(1, 22)))

    assert (report.repeated_recorded, report.repeated_in_flight) == (1, 1)
    assert report.problems == ("1 calls were made again although they were recorded: key-1",)


def test_a_recorded_call_is_found_behind_a_second_repeat() -> None:
    """With several deaths each repeat is judged by the death before it."""
    second = Kill(30 * _SECOND, 31 * _SECOND, frozenset({"key-1", "key-2"}), frozenset({"flight-1"}))
    requests = (*_REQUESTS, _request(2, 40))

    report = check(_EXPECTATION, _EXPECTATION.outputs, requests, [_KILL, second])

    assert (report.repeated_recorded, report.repeated_in_flight) == (1, 0)
    assert report.problems == ("1 calls were made again although they were recorded: key-2",)


@pytest.mark.parametrize(
    ("requests", "problem"),
    [
        pytest.param(_REQUESTS[:-1], "1 calls were never made, for flight: flight-3", id="never-made"),
        pytest.param((*_REQUESTS, _request(4, 22)), "1 calls were made that nothing asked for", id="invented"),
        pytest.param(
            (*_REQUESTS[:2], replace(_request(2, 20), key="key-9"), *_REQUESTS[3:]),
            "1 calls were made under several keys, for flight: flight-2",
            id="new-key",
        ),
        pytest.param(
            (*_REQUESTS[:3], replace(_request(3, 21), key="key-2")),
            "1 keys were used for several calls",
            id="shared-key",
        ),
        pytest.param((*_REQUESTS[:3], replace(_request(3, 21), key="")), "1 requests had no key: /seats", id="no-key"),
        pytest.param(
            (*_REQUESTS, _request(3, 22)), "1 calls were made again without a death in between", id="no-death"
        ),
        pytest.param(
            (*_REQUESTS[:3], replace(_request(3, 21), status=503)), "1 requests were answered with an error", id="error"
        ),
    ],
)
def test_doctored_calls_are_found(requests: tuple[Request, ...], problem: str) -> None:
    """A call missing, invented, under another key, repeated without reason or failed is a problem."""
    assert problem in " ".join(_checked(requests=requests).problems)


def test_a_request_that_arrives_while_all_is_dead_belongs_to_the_dead() -> None:
    """What the killed process had sent may be received a moment after its death, and is repeated with reason."""
    requests = (_request(1, 1), _request(2, 10.5), _request(2, 20), _request(3, 21))

    assert _checked(requests=requests).problems == ()


@pytest.mark.parametrize(
    ("kill", "problem"),
    [
        pytest.param(
            replace(_KILL, recorded=frozenset()), "1 calls of committed outputs were not recorded: key-1", id="blind"
        ),
        pytest.param(
            replace(_KILL, recorded=frozenset({"key-1", "key-8"})),
            "1 calls were recorded that no desk had answered: key-8",
            id="foreign",
        ),
        pytest.param(
            replace(_KILL, recorded=frozenset({"key-1", "key-2"})),
            "1 calls were recorded that no desk had answered: key-2",
            id="unanswered",
        ),
    ],
)
def test_a_misread_store_is_found(kill: Kill, problem: str) -> None:
    """Records that must be there and are not, or that cannot be there, do not pass as a good run."""
    assert problem in " ".join(_checked(kill=kill).problems)
