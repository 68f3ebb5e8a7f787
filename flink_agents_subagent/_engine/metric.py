"""Names of the counters and histograms that the engine reports as effects (E7.1). A gauge is a counter that also goes down."""

from __future__ import annotations

from typing import Final

__all__: list[str] = []

# Counters; the label is the function or sub-agent.
CALLS_STARTED: Final = "calls_started"
CALLS_REPLAYED: Final = "calls_replayed"
CALLS_RECONCILED: Final = "calls_reconciled"
CALLS_RETRIED: Final = "calls_retried"
CALLS_REPEATED: Final = "calls_repeated"
CALLS_TIMED_OUT: Final = "calls_timed_out"
CALLS_CANCELLED: Final = "calls_cancelled"
CALLS_ABANDONED: Final = "calls_abandoned"
LATE_RESULTS: Final = "late_results"
# What chat models say of an answer; counted by the name that the call gives (`CallSpec.used`).
INPUT_TOKENS: Final = "input_tokens"
OUTPUT_TOKENS: Final = "output_tokens"
# Counters without label.
MISMATCHES: Final = "mismatches"
JOURNAL_RECORDS: Final = "journal_records"
JOURNAL_BYTES: Final = "journal_bytes"
UNCLAIMED_EXPIRED: Final = "unclaimed_expired"
DEAD_LETTERS: Final = "dead_letters"
EVENT_LOG_LOST: Final = "event_log_lost"
# Gauges.
ACTIVE_RUNS: Final = "active_runs"
PARKED_EXECUTIONS: Final = "parked_executions"
CALLS_IN_FLIGHT: Final = "calls_in_flight"
CALLS_WAITING: Final = "calls_waiting"
ABANDONED_CALLS_RUNNING: Final = "abandoned_calls_running"
UNCLAIMED_JOURNALS: Final = "unclaimed_journals"
# Histograms, in milliseconds.
CALL_LATENCY: Final = "call_latency_ms"
ACKNOWLEDGE_LATENCY: Final = "acknowledge_latency_ms"
MAILBOX_BLOCKED: Final = "mailbox_blocked_ms"
