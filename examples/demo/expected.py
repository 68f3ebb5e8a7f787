"""What the job must come to, by a plain loop over the same data. Owns no Flink, no agent, no replay."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Call", "Expectation", "expect"]

Answer = Callable[[bytes], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Call:
    """A request that must reach a desk: its path and the SHA-256 of its content."""

    path: str
    body: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """The outcome of a run that nobody disturbs."""

    outputs: tuple[str, ...]
    """As JSON with sorted names, in the order of the flights."""
    calls: Mapping[Call, str]
    """The flight that each call is for."""


def expect(flights: Iterable[Mapping[str, Any]], answer: Answer) -> Expectation:
    """Loop over the flights; `answer` is what the desks reply to a content."""
    outputs: list[str] = []
    calls: dict[Call, str] = {}
    totals: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_TOTALS, 0))
    for flight in flights:
        total = totals[flight["destination"]]
        total["flights"] += 1
        total["delay_minutes"] += max(0, flight["arrival_delay"] or 0)
        output = {"flight": flight["id"], "destination": flight["destination"]}
        reason = _reason(flight)
        if reason:
            total["disrupted"] += 1
            content = {**output, "reason": reason, "disrupted": total["disrupted"]}
            body = json.dumps(content, sort_keys=True).encode()
            for desk in ("seats", "rooms") if reason == "cancelled" else ("seats",):
                calls[Call(f"/{desk}", hashlib.sha256(body).hexdigest())] = flight["id"]
                reply = answer(body)
                total[desk] += reply["number"] % 100
                output[f"{desk}_confirmation"] = reply["confirmation"]
        outputs.append(json.dumps({**output, **total}, sort_keys=True))
    return Expectation(tuple(outputs), calls)


_TOTALS = ("flights", "delay_minutes", "disrupted", "seats", "rooms")


def _reason(flight: Mapping[str, Any]) -> str | None:
    if flight["departure_delay"] is None:
        return "cancelled"
    if flight["arrival_delay"] is None:
        return "diverted"
    return "late" if flight["arrival_delay"] >= 120 else None
