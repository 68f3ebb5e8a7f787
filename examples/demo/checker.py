"""Decides whether a run kept its promises. Owns the figures and what is wrong with them; performs nothing.

Three sources that do not know each other are compared: what the file sink committed, what the desks saw, and what
the action-state store had on disk while the TaskManager was dead.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from examples.demo.expected import Call, Expectation
from flink_agents_subagent.testing.http import Request

__all__ = ["Kill", "Report", "check"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Kill:
    """One death of the TaskManager, and what was known between it and the next start."""

    at_ns: int
    """Before the signal."""
    restarted_ns: int
    """Before the next TaskManager was started: what it sends is received later, and nothing else is."""
    recorded: frozenset[str]
    """Ids of the calls whose outcome was in the store's files."""
    committed: frozenset[str]
    """Flights whose output was committed."""


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a run, and what is wrong with them."""

    inputs: int
    outputs: int
    distinct_outputs: int
    calls: int
    """Calls made: different idempotency keys."""
    recorded_at_kill: int
    repeated_recorded: int
    """Calls made again although their outcome was recorded."""
    repeated_in_flight: int
    """Calls made again, with the same key, whose outcome was not recorded when the process died."""
    problems: tuple[str, ...]
    """Empty: everything holds."""


def check(
    expectation: Expectation, outputs: Sequence[str], requests: Sequence[Request], kills: Sequence[Kill]
) -> Report:
    """Compare what happened with what had to happen."""
    given = [json.dumps(json.loads(line), sort_keys=True) for line in outputs]
    repeats = _repeats(requests)
    recorded = {request.key for request, kill in _deaths_between(repeats, kills) if request.key in kill.recorded}
    problems = [
        *_wrong_outputs(expectation, given),
        *_wrong_calls(expectation, requests),
        *_unexplained_repeats(repeats, kills),
        *_implausible_records(expectation, requests, kills),
    ]
    if recorded:
        problems.append(f"{len(recorded)} calls were made again although they were recorded: {_some(recorded)}")
    return Report(
        inputs=len(expectation.outputs),
        outputs=len(given),
        distinct_outputs=len(set(given)),
        calls=len({request.key for request in requests}),
        recorded_at_kill=len(frozenset().union(*(kill.recorded for kill in kills))),
        repeated_recorded=len(recorded),
        repeated_in_flight=len({first.key for first, _ in repeats} - recorded),
        problems=tuple(problems),
    )


def _repeats(requests: Sequence[Request]) -> list[tuple[Request, Request]]:
    """Return each request that came before with the same key, beside the one just before it."""
    last: dict[str, Request] = {}
    pairs = []
    for request in requests:
        if request.key in last:
            pairs.append((last[request.key], request))
        last[request.key] = request
    return pairs


def _deaths_between(repeats: Iterable[tuple[Request, Request]], kills: Sequence[Kill]) -> list[tuple[Request, Kill]]:
    """Return the repeats with each death that lies between the two requests."""
    return [
        (first, kill)
        for first, second in repeats
        for kill in kills
        if first.received_ns < kill.restarted_ns <= second.received_ns
    ]


def _wrong_outputs(expectation: Expectation, given: Sequence[str]) -> list[str]:
    wanted, found = Counter(expectation.outputs), Counter(given)
    problems = []
    if missing := wanted - found:
        problems.append(f"{missing.total()} outputs of the plain loop are missing: {_some(missing)}")
    if surplus := found - wanted:
        problems.append(f"{surplus.total()} outputs are wrong, or there too often: {_some(surplus)}")
    return problems


def _wrong_calls(expectation: Expectation, requests: Sequence[Request]) -> list[str]:
    keys_of, calls_of = defaultdict(set), defaultdict(set)
    for request in requests:
        call = Call(request.path, request.body)
        keys_of[call].add(request.key)
        calls_of[request.key].add(call)
    several_keys = [expectation.calls.get(call, call) for call, keys in keys_of.items() if len(keys) > 1]
    shared_keys = [key for key, calls in calls_of.items() if len(calls) > 1]
    checks: Mapping[str, Sequence[object]] = {
        "calls were never made, for flight": [expectation.calls[c] for c in expectation.calls.keys() - keys_of.keys()],
        "calls were made that nothing asked for": list(keys_of.keys() - expectation.calls.keys()),
        "calls were made under several keys, for flight": several_keys,
        "keys were used for several calls": shared_keys,
        "requests had no key": [request.path for request in requests if not request.key],
        "requests were answered with an error": [r.key for r in requests if r.status not in (200, None)],
    }
    return [f"{len(found)} {what}: {_some(found)}" for what, found in checks.items() if found]


def _unexplained_repeats(repeats: Sequence[tuple[Request, Request]], kills: Sequence[Kill]) -> list[str]:
    explained = {id(first) for first, _ in _deaths_between(repeats, kills)}
    found = [first.key for first, _ in repeats if id(first) not in explained]
    return [f"{len(found)} calls were made again without a death in between: {_some(found)}"] if found else []


def _implausible_records(expectation: Expectation, requests: Sequence[Request], kills: Sequence[Kill]) -> list[str]:
    """Guard against having misread the store: what it must hold is there, and what it holds was answered."""
    problems = []
    for kill in kills:
        before = [request for request in requests if request.received_ns < kill.restarted_ns]
        answered = {request.key for request in before if request.answered_ns is not None}
        done = {r.key for r in before if expectation.calls.get(Call(r.path, r.body)) in kill.committed}
        if unknown := kill.recorded - answered:
            problems.append(f"{len(unknown)} calls were recorded that no desk had answered: {_some(unknown)}")
        if lost := done - kill.recorded:
            problems.append(f"{len(lost)} calls of committed outputs were not recorded: {_some(lost)}")
    return problems


def _some(items: Iterable[object]) -> str:
    shown = [str(item) for item in items]
    return ", ".join(sorted(shown)[:_SHOWN]) + (", …" if len(shown) > _SHOWN else "")
