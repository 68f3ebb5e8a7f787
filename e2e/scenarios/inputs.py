"""Makes the inputs of a scenario, and what a run that nobody disturbs does with them: a plain loop. Knows nothing of Flink."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from e2e.harness.effect_server import answer
from e2e.scenarios.model import Orders

__all__ = ["Call", "Expectation", "expect", "make_orders"]

_ODD_KEYS = (
    "",
    "_",
    "a_b",
    "a_",
    "_b",
    "a:b",
    "a/b\\c",
    "a\tb\nc",
    "a\x00b",
    "ключ",
    "鍵 🔑",
    "é",
    "é",
    '{"key":1}',
    "%5F",
    " ",
)
NEEDS: Mapping[str, frozenset[str]] = {
    "a": frozenset(),
    "c": frozenset(),
    "e": frozenset("a"),
    "b": frozenset("ae"),
    "x": frozenset("ae"),
    "d": frozenset("abce"),
}
"""Desks, with those whose outcome is recorded before a run asks them."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a run asks a desk."""

    run: tuple[str, int]
    """Id of the order, and its number among those of the key (0 when the desks are not told)."""
    desk: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an undisturbed run does."""

    outputs: tuple[str, ...]
    """As JSON with sorted names."""
    calls: Mapping[str, Call]
    """By the SHA-256 of their content."""
    optional: Mapping[str, Call]
    """What changed code may ask besides."""


def make_orders(orders: Orders, seed: int, job: int) -> list[dict[str, Any]]:
    """Return the inputs of a job, the same for the same arguments."""
    chance = random.Random(f"{seed} {job}")
    keys = _ODD_KEYS if orders.keys == "odd" else [f"key_{number}" for number in range(orders.key_count)]
    made = []
    for number in range(orders.count):
        key = keys[number % len(keys)]
        made.append(
            {
                "id": f"of {key!r}" if orders.is_identical else f"{number}",
                "key": key,
                "nap": 0.05 if orders.is_identical or chance.random() < 0.5 else 0.0,
                "settles": orders.is_identical or chance.random() < 0.15,
                "padding": orders.padding if number % 10 == 9 else 0,
            }
        )
    return made


def expect(orders: Iterable[Mapping[str, Any]], *, order_free: bool = False) -> Expectation:
    """Loop over the orders."""
    numbers: Counter[str] = Counter()
    outputs, calls, optional = [], {}, {}
    for order in orders:
        numbers[order["key"]] += 1
        number = numbers[order["key"]]
        counted = {} if order_free else {"number": number}
        answers = {}
        for desk in NEEDS:
            content = json.dumps({"order": order["id"], "desk": desk, **counted}, sort_keys=True).encode()
            call = Call((order["id"], 0 if order_free else number), desk)
            if desk in "ex" or (desk == "d" and not order["settles"]):
                optional[hashlib.sha256(content).hexdigest()] = call
                continue
            calls[hashlib.sha256(content).hexdigest()] = call
            answers[desk] = answer(content)["confirmation"]
        output = {"key": order["key"], "order": order["id"], "number": number, "answers": answers}
        outputs.append(json.dumps(output, sort_keys=True))
    return Expectation(tuple(outputs), calls, {sha: call for sha, call in optional.items() if call.desk == "e"})


def as_lines(orders: Sequence[Mapping[str, Any]]) -> str:
    """Return the orders as the job reads them."""
    return "".join(json.dumps(order) + "\n" for order in orders)
