"""One attempt at a call: what is called, where, as what, and whether and when another follows (E3.9). Starts nothing."""

from __future__ import annotations

from collections.abc import Callable

from flink_agents_subagent._engine.effects import CallOrigin
from flink_agents_subagent._engine.outcome import asked_pause_ms
from flink_agents_subagent._engine.record import Record
from flink_agents_subagent._engine.slot import Slot
from flink_agents_subagent.context import RetryPolicy

__all__ = ["function_of", "may_retry", "origin_of", "pause_ms"]


def may_retry(slot: Slot, error: BaseException) -> bool:
    """Tell whether another attempt follows one that failed so."""
    retry = slot.spec.retry
    return (
        retry is not None
        and (not slot.is_reconciling or (slot.course is not None and slot.course.spec.reconciles_attempts))
        and isinstance(error, retry.retry_on)
        and slot.attempts + 1 < retry.max_attempts
    )


def pause_ms(retry: RetryPolicy, failed: Record) -> int:
    """Return how long to wait after a failed attempt: what the policy says, and no less than what the failure itself asked for."""
    longest = retry.max_interval.total_seconds()
    try:
        pause = retry.initial.total_seconds() * retry.factor ** (failed.attempts - 1)
    except OverflowError:
        pause = longest
    return max(round(min(pause, longest) * 1000), asked_pause_ms(failed))


def function_of(slot: Slot) -> Callable[[], object]:
    """Return what the attempt calls."""
    return slot.spec.reconciler if slot.is_reconciling and slot.spec.reconciler is not None else slot.spec.func


def origin_of(slot: Slot) -> CallOrigin:
    """Return whose attempt it is."""
    execution, spec = slot.execution, slot.spec
    origin = CallOrigin(
        execution.run.key,
        execution.journal.need().run_number,
        execution.address,
        slot.number,
        spec.function_id,
        spec.fingerprint,
        slot.attempts + 1,
        spec.reconciler is not None,
        slot.is_reconciling,
    )
    return origin if slot.course is None else origin._replace(agains=slot.course.agains)
