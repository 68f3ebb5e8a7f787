"""What the store says about every call, and what may therefore not happen. Owns the rules of E3.6, E3.9 and E4.4 as checks.

Independent of the engine: it reads the records that were made durable and the calls that were started, nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from flink_agents_subagent._engine.effects import Append, CallOrigin, StartCall
from flink_agents_subagent._engine.encoding import input_fingerprint, key_value
from flink_agents_subagent._engine.record import Address, Record, decode_record
from flink_agents_subagent.errors import EncodingError
from flink_agents_subagent.testing.activity import Activity
from flink_agents_subagent.testing.element import SourceInput
from flink_agents_subagent.testing.process import Job
from flink_agents_subagent.testing.progress import Start

__all__ = ["Ledger", "Violation"]


class Violation(Exception):  # noqa: N818 - internal; the simulator turns it into a `SimulationError`
    """Something happened that a contract rules out."""


class _Run(NamedTuple):
    key: bytes
    number: int


@dataclass(slots=True)
class _Slot:
    """What is known of one call."""

    identity: tuple[str, bytes] | None = None
    intended: int = 0
    """The life that made the intent durable, 0: none."""
    invoked: int = 0
    """The last life that called the function, 0: none."""
    attempts: int = 0
    outcome: int = 0
    """Number of the outcome's record, 0: none."""


class Ledger:
    """Follows records and calls across all lives of a job.

    Raises `Violation` from `starting` and `appending` when a contract is broken.
    """

    def __init__(self, job: Job, source: Iterable[SourceInput], *, is_ordered: bool) -> None:
        """Follow a job over these inputs; `is_ordered` when each key's inputs always come back in the same order."""
        self._is_ordered = is_ordered
        self._identities = {element.number: _identity(job, element) for element in source}
        self._inputs = Counter(filter(None, self._identities.values()))
        self._journals: Counter[tuple[bytes, bytes] | None] = Counter()
        self._records: dict[_Run, list[tuple[bytes, int]]] = {}
        """By run: the payloads in the store, and the life that made each durable."""
        self._slots: dict[_Run, dict[tuple[Address, int], _Slot]] = {}
        self._numbers: dict[int, int] = {}
        """By input: the number of its run when it first made a call."""
        self._had_number: dict[int, bool] = {}
        self._unsteady: set[bytes] = set()
        """Keys of which a run took a number in one life and none in another: it goes by the time, and so do the numbers after it."""
        self.repeated = 0
        """Functions called again because their outcome was not recorded when the process died."""

    def finishing(self, start: Start) -> None:
        """Note whether the run of an input took a number."""
        element, has_number = start.element, start.run_number is not None
        if self._journals[self._identities[element.number]]:
            return
        if self._had_number.setdefault(element.number, has_number) is not has_number:
            self._unsteady.add(element.key)

    def starting(self, call: StartCall, life: int, start: Start) -> None:
        """Check that a call may be made by the run of an input."""
        origin = call.origin
        if origin is None:
            return
        run = _Run(origin.key, origin.run_number)
        self._check_number(run, start.element.number)
        slot = self._slot(run, origin.execution, origin.slot)
        name = _name(origin)
        if slot.outcome:
            raise Violation(f"{name} is made although record {slot.outcome} holds its outcome (E3.6)")
        self._check_identity(run, slot, (origin.function_id, origin.fingerprint), name)
        if origin.is_reconciler:
            return
        if origin.has_reconciler:
            _check_intent(slot, life, name)
        # One that asks to be run again has succeeded: its next failure is the first one.
        if origin.attempt != slot.attempts + 1 and not (origin.agains and origin.attempt <= slot.attempts):
            raise Violation(f"{name} makes attempt {origin.attempt} after {slot.attempts} recorded ones (E3.9)")
        if slot.invoked not in (0, life):
            self.repeated += 1
        slot.invoked = life

    def _is_repeated(self, run: _Run, append: Append, where: str, life: int) -> bool:
        """Tell whether a later life makes durable once more what a checkpoint held before its acknowledgement (E4.2)."""
        journal = self._records.setdefault(run, [])
        if append.record_number <= len(journal):
            payload, earlier = journal[append.record_number - 1]
            if payload == append.payload and earlier < life:
                return True
        if append.record_number != len(journal) + 1:
            raise Violation(f"{where} follows record {len(journal)} in the store (S1.2)")
        journal.append((append.payload, life))
        return False

    def appending(self, append: Append, life: int) -> None:
        """Check that a record may be made durable, and take what it says."""
        run = _Run(append.key, append.run_number)
        where = f"record {append.record_number} of run {run.number} of key {key_value(run.key)!r}"
        if self._is_repeated(run, append, where, life):
            return
        record = decode_record(append.record_number, append.payload, where)
        if append.record_number == 1:
            self._opened(run, record, where)
        if record.kind == "r":
            self._reset(run, record.discards_from)
        elif record.kind != "t":
            self._take(run, record, where, life)

    def acting(self, activity: Activity) -> None:
        """Check that an output may leave, or a run end: what a call or a timer brings must be acknowledged first."""
        if activity in (Activity.END_CALL, Activity.TIMER):
            raise Violation(f"an action goes on at a {activity.value}, before the record of it is durable (E2.2)")

    def _opened(self, run: _Run, record: Record, where: str) -> None:
        if record.head is None:
            raise Violation(f"{where} does not say which input its run belongs to (E4.4)")
        identity = (run.key, record.head.input_fingerprint)
        self._journals[identity] += 1
        if identity in self._inputs and self._journals[identity] > self._inputs[identity]:
            raise Violation(
                f"{where} opens a second journal for an input that has one: its calls are made again (E4.4)"
            )

    def _take(self, run: _Run, record: Record, where: str, life: int) -> None:
        slot = self._slot(run, record.execution, record.slot)
        if slot.outcome:
            raise Violation(f"{where} is about a call whose outcome record {slot.outcome} holds (E3.6)")
        self._check_identity(run, slot, record.identity(), where)
        if record.kind == "i":
            if slot.intended:
                raise Violation(f"{where} is a second intent of its call: the first one's reconciler decides (E3.6)")
            slot.intended = life
        elif record.kind == "a":
            slot.attempts = record.attempts
        else:
            slot.outcome = record.number

    def _reset(self, run: _Run, first: int) -> None:
        # Facts about the discarded part may be kept only where a record proves that they are older.
        slots = self._slots.get(run, {})
        self._slots[run] = {place: slot for place, slot in slots.items() if 0 < slot.outcome < first}

    def _check_number(self, run: _Run, element: int) -> None:
        before = self._numbers.setdefault(element, run.number)
        if before != run.number and self._is_ordered and run.key not in self._unsteady:
            raise Violation(
                f"the run of input {element} of key {key_value(run.key)!r} has number {run.number} and had number {before} in an "
                "earlier life: its calls come with other idempotency keys (E5.3)"
            )

    def _slot(self, run: _Run, execution: Address, number: int) -> _Slot:
        return self._slots.setdefault(run, {}).setdefault((execution, number), _Slot())

    def _check_identity(self, run: _Run, slot: _Slot, identity: tuple[str, bytes], name: str) -> None:
        # Before its first record a run may begin anew at another time, which it may pass to its calls (E2.3).
        if run not in self._records:
            return
        # Inputs that come back in another order may take each other's run numbers before anything is recorded.
        if slot.identity not in (None, identity) and self._is_ordered:
            raise Violation(
                f"{name} is {identity[0]}({identity[1].hex()}); an earlier life had {slot.identity} in its place: it had gone "
                "on from something that was not durable (E2.2), or the action is not deterministic"
            )
        slot.identity = identity


def _check_intent(slot: _Slot, life: int, name: str) -> None:
    if not slot.intended:
        raise Violation(f"{name} is made before its intent is durable (E3.6)")
    if slot.intended != life:
        raise Violation(
            f"{name} is made again although an earlier life recorded its intent: its reconciler decides (E3.6)"
        )


def _identity(job: Job, element: SourceInput) -> tuple[bytes, bytes] | None:
    try:
        return element.key, input_fingerprint(job.decode(element.raw))
    except EncodingError:
        return None


def _name(origin: CallOrigin) -> str:
    return (
        f"call {origin.slot} of execution {origin.execution} ({origin.function_id}) in run {origin.run_number} "
        f"of key {key_value(origin.key)!r}"
    )
