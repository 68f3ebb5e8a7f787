from __future__ import annotations

import hashlib
import json

from examples.demo.expected import Call, expect


def _flight(
    number: int, destination: str = "BOS", departed: int | None = 0, arrived: int | None = 0
) -> dict[str, object]:
    delays = {"departure_delay": departed, "arrival_delay": arrived}
    return {"id": f"f-{number}", "destination": destination, **delays}


def _answer(body: bytes) -> dict[str, object]:
    return {"confirmation": json.loads(body)["flight"].upper(), "number": 107}


def test_totals_run_per_destination() -> None:
    """Each output holds the totals of its own destination up to its flight."""
    flights = [_flight(1, arrived=5), _flight(2, "ORD", arrived=-4), _flight(3, arrived=7)]

    outputs = [json.loads(line) for line in expect(flights, _answer).outputs]

    assert [(o["flight"], o["flights"], o["delay_minutes"]) for o in outputs] == [
        ("f-1", 1, 5),
        ("f-2", 1, 0),
        ("f-3", 2, 12),
    ]


def test_disrupted_flights_make_calls() -> None:
    """A cancelled flight needs both desks, a diverted or very late one seats alone, any other none."""
    flights = [
        _flight(1, departed=None, arrived=None),
        _flight(2, arrived=None),
        _flight(3, arrived=120),
        _flight(4, arrived=119),
    ]

    calls = expect(flights, _answer).calls

    assert sorted((flight, call.path) for call, flight in calls.items()) == [
        ("f-1", "/rooms"),
        ("f-1", "/seats"),
        ("f-2", "/seats"),
        ("f-3", "/seats"),
    ]


def test_a_call_is_known_by_its_content() -> None:
    """The content says flight, reason, and how many disruptions the destination had by then."""
    content = {"destination": "BOS", "disrupted": 1, "flight": "f-1", "reason": "diverted"}

    calls = expect([_flight(1, arrived=None)], _answer).calls

    assert list(calls) == [Call("/seats", hashlib.sha256(json.dumps(content).encode()).hexdigest())]


def test_bookings_count_into_the_totals() -> None:
    """What the desks answered is in the output of the flight, and adds up over those of its destination."""
    flights = [_flight(1, arrived=None), _flight(2, departed=None, arrived=None)]

    first, second = (json.loads(line) for line in expect(flights, _answer).outputs)

    assert (first["seats"], first["rooms"], first["seats_confirmation"]) == (7, 0, "F-1")
    assert (second["seats"], second["rooms"], second["rooms_confirmation"]) == (14, 7, "F-2")
