"""Decides whether a run kept its promises. Owns the figures and what is wrong with them; performs nothing.

Three sources that do not know each other are compared: what the file sink committed, what the desks saw, and what the action-state
store had on disk at each interruption and at the end.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from e2e.harness.journal import Record
from e2e.scenarios.inputs import NEEDS, Expectation
from flink_agents_subagent.testing.http import Request

__all__ = ["Evidence", "Interruption", "Report", "Rules", "check", "recorded_calls"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Interruption:
    """A time in which an attempt of the job ended; times are `time.monotonic_ns()`."""

    begin_ns: int
    """What was received before was not sent by a later attempt."""
    end_ns: int
    """What is received from here on was not sent by an earlier attempt, unless that is a zombie."""
    recorded: frozenset[str] = frozenset()
    """Keys of the calls whose outcome was in the store when no attempt was alive; none when there was no such time."""
    is_death: bool = True
    """Whether nothing was alive between begin and end, so that `recorded` is all that there was."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a scenario allows."""

    repeats_in_flight: bool = True
    order_may_change: bool = False
    """The source may bring the inputs of a key back in another order: a call of which nothing was recorded may then come under
    another key (E5.3), and an input may have another number among those of its key."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a job's run."""

    outputs: Sequence[str]
    requests: Sequence[Request]
    interruptions: Sequence[Interruption]
    recorded: frozenset[str]
    """Keys of the calls whose outcome was in the store at the end."""


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a run, and what is wrong with them."""

    inputs: int
    outputs: int
    effects: int
    """Calls that had an effect: different idempotency keys."""
    repeated_in_flight: int
    """Calls made again, under their key, whose outcome was not recorded when they were interrupted."""
    repeated_recorded: int
    """Calls made again although their outcome was recorded."""
    lost: int
    """Outputs and calls that are missing."""
    problems: tuple[str, ...]
    """Empty: everything holds."""


def recorded_calls(records: Iterable[Record]) -> frozenset[str]:
    """Return the idempotency keys of the outcomes among the records."""
    return frozenset(record.function_id.rpartition(":")[2] for record in records if record.kind == "o")


def check(expectation: Expectation, evidence: Evidence, rules: Rules) -> Report:
    """Compare what happened with what had to happen."""
    repeats = _Repeats(expectation, evidence)
    wrong_outputs, missing_outputs = _wrong_outputs(expectation, evidence.outputs, rules)
    missing_calls = expectation.calls.keys() - {request.body for request in evidence.requests}
    problems = [
        *wrong_outputs,
        *_wrong_calls(expectation, evidence, rules),
        *repeats.problems(rules),
        *_implausible_records(expectation, evidence),
    ]
    return Report(
        inputs=len(expectation.outputs),
        outputs=len(evidence.outputs),
        effects=len({request.key for request in evidence.requests}),
        repeated_in_flight=len(repeats.keys - repeats.recorded),
        repeated_recorded=len(repeats.recorded),
        lost=missing_outputs + len(missing_calls),
        problems=tuple(problems),
    )


class _Repeats:
    """The calls that were made more than once."""

    def __init__(self, expectation: Expectation, evidence: Evidence) -> None:
        self._interruptions = evidence.interruptions
        self._expectation = expectation
        self._pairs = list(_pairs(evidence.requests))
        self.keys = {first.key for first, _ in self._pairs}
        again = {
            request.key
            for interruption in evidence.interruptions
            for request in evidence.requests
            if request.key in interruption.recorded and request.received_ns >= interruption.end_ns
        }
        self.recorded = again | self._overtaken(evidence.requests)

    def problems(self, rules: Rules) -> Iterator[str]:
        if self.recorded:
            yield f"{len(self.recorded)} calls were made again although they were recorded: {_some(self.recorded)}"
        if unexplained := [first.key for first, second in self._pairs if not self._is_explained(first, second)]:
            yield f"{len(unexplained)} calls were made again without an interruption in between: {_some(unexplained)}"
        if self.keys and not rules.repeats_in_flight:
            yield f"{len(self.keys)} calls were made again, though nothing died: {_some(self.keys)}"
        reconciled = {self._desk(first) for first, _ in self._pairs} & {"c"}
        if reconciled:
            yield "a call with a reconciler was made again"

    def _desk(self, request: Request) -> str:
        call = self._expectation.calls.get(request.body)
        return "" if call is None else call.desk

    def _is_explained(self, first: Request, second: Request) -> bool:
        return any(
            first.received_ns < interruption.end_ns and second.received_ns >= interruption.begin_ns
            for interruption in self._interruptions
        )

    def _overtaken(self, requests: Sequence[Request]) -> set[str]:
        """Return the calls that came after one that their run makes only when they are recorded."""
        settled: dict[tuple[str, int], set[str]] = defaultdict(set)
        found = set()
        for request in requests:
            call = self._expectation.calls.get(request.body)
            if call is None:
                continue
            if call.desk in settled[call.run]:
                found.add(request.key)
            settled[call.run] |= NEEDS[call.desk]
        return found


def _pairs(requests: Sequence[Request]) -> Iterator[tuple[Request, Request]]:
    """Yield each request for a call that came before, behind the one just before it."""
    last: dict[str, Request] = {}
    for request in requests:
        if request.body in last:
            yield last[request.body], request
        last[request.body] = request


def _wrong_outputs(expectation: Expectation, outputs: Sequence[str], rules: Rules) -> tuple[list[str], int]:
    """Return what is wrong, and how many outputs are missing."""
    if rules.order_may_change:
        wanted = Counter(part for line in expectation.outputs for part in _apart(line))
        found = Counter(part for line in outputs for part in _apart(line))
    else:
        wanted = Counter(expectation.outputs)
        found = Counter(_without_optional(line) for line in outputs)
    problems = []
    missing, surplus = wanted - found, found - wanted
    if missing:
        problems.append(f"{missing.total()} outputs of the plain loop are missing: {_some(missing)}")
    if surplus:
        problems.append(f"{surplus.total()} outputs are wrong, or there too often: {_some(surplus)}")
    return problems, missing.total()


def _apart(line: str) -> tuple[str, str]:
    """Return an output without its number, and the number by itself: each comes once, whichever belong together."""
    output = json.loads(line)
    number = output.pop("number")
    return json.dumps(output, sort_keys=True), json.dumps({"key": output["key"], "number": number}, sort_keys=True)


def _without_optional(line: str) -> str:
    """Return an output as the plain loop makes it: without what changed code added."""
    output = json.loads(line)
    output["answers"].pop("e", None)
    return json.dumps(output, sort_keys=True)


def _wrong_calls(expectation: Expectation, evidence: Evidence, rules: Rules) -> list[str]:
    known = {**expectation.optional, **expectation.calls}
    keys_of: Mapping[str, set[str]] = defaultdict(set)
    bodies_of: Mapping[str, set[str]] = defaultdict(set)
    for request in evidence.requests:
        keys_of[request.body].add(request.key)
        bodies_of[request.key].add(request.body)
    several = [known[body] for body, keys in keys_of.items() if len(keys) > 1 and body in known]
    checks: Mapping[str, Sequence[object]] = {
        "calls were never made": [expectation.calls[body] for body in expectation.calls.keys() - keys_of.keys()],
        "calls were made that nothing asked for": [
            request.path for request in evidence.requests if request.body not in known
        ],
        "calls were made under several keys": [] if rules.order_may_change else several,
        "keys were used for several calls": [key for key, bodies in bodies_of.items() if len(bodies) > 1],
        "requests had no key": [request.path for request in evidence.requests if not request.key],
        "requests were answered with an error": [
            request.key for request in evidence.requests if request.status not in (200, None)
        ],
        "outputs do not tell which calls of changed code were made": _untold(expectation, evidence),
        "calls are not recorded in the end": sorted(
            {request.key for request in _last_of_each(evidence.requests)} - evidence.recorded
        ),
    }
    return [f"{len(found)} {what}: {_some(found)}" for what, found in checks.items() if found]


def _untold(expectation: Expectation, evidence: Evidence) -> list[str]:
    asked = {
        expectation.optional[request.body].run for request in evidence.requests if request.body in expectation.optional
    }
    outputs = [json.loads(line) for line in evidence.outputs]
    told = {(output["order"], output["number"]) for output in outputs if "e" in output["answers"]}
    return [str(run) for run in asked ^ told]


def _last_of_each(requests: Sequence[Request]) -> Iterable[Request]:
    return {request.body: request for request in requests}.values()


def _implausible_records(expectation: Expectation, evidence: Evidence) -> Iterator[str]:
    """Compare the store with the desks at each death: what must be recorded is, and what is recorded was answered."""
    for death in evidence.interruptions:
        if not death.is_death:
            continue
        before = [request for request in evidence.requests if request.received_ns < death.end_ns]
        answered = {request.key for request in before if request.answered_ns is not None}
        if unknown := death.recorded - answered:
            yield f"{len(unknown)} calls were recorded that no desk had answered: {_some(unknown)}"
        if unrecorded := _needed(expectation, before) - death.recorded:
            yield f"{len(unrecorded)} calls were not recorded when their run went on: {_some(unrecorded)}"


def _needed(expectation: Expectation, requests: Sequence[Request]) -> set[str]:
    """Return the keys of the calls that a later call of their run shows to be recorded."""
    settled: dict[tuple[str, int], set[str]] = defaultdict(set)
    for request in requests:
        if call := expectation.calls.get(request.body):
            settled[call.run] |= NEEDS[call.desk]
    last = {request.body: request.key for request in requests}
    return {
        key for body, key in last.items() if (call := expectation.calls.get(body)) and call.desk in settled[call.run]
    }


def _some(items: Iterable[object]) -> str:
    shown = [str(item) for item in items]
    return ", ".join(sorted(shown)[:_SHOWN]) + (", …" if len(shown) > _SHOWN else "")
