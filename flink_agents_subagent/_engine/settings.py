"""The options that the engine obeys, resolved. Names and texts of the options live in `options.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["EngineSettings"]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """One engine's options."""

    job_identifier: str
    operator_uid: str
    call_threads: int = 64
    max_abandoned_calls: int = 64
    max_concurrent_calls: int = 10_000
    max_record_bytes: int = 8 * 1024 * 1024
    on_mismatch: Literal["fail", "rerun"] = "fail"
    on_action_error: Literal["fail", "dead-letter"] = "fail"
    journal_pickle: Literal["deny", "allow"] = "deny"
    unclaimed_retention_ms: int = 3_600_000
    max_subagent_calls: int = 1000
    max_subagent_depth: int = 8
    max_tool_rounds: int = 25
    tool_parallelism: int = 16
    tool_timeout_ms: int = 300_000
    log_keys: bool = False
    event_log: Literal["off", "standard", "verbose"] = "off"
    """What the event log holds, wherever it goes (E7.2)."""
    memory_expires: bool = False
    """Whether the host drops entries of short-term memory some time after they were written."""

    @classmethod
    def from_options(cls, job_identifier: str, operator_uid: str, options: Mapping[str, Any]) -> EngineSettings:
        """Return the settings that resolved options give (`resolve_options`)."""
        return cls(
            job_identifier=job_identifier,
            operator_uid=operator_uid,
            call_threads=options["call-threads"],
            max_abandoned_calls=options["max-abandoned-calls"],
            max_concurrent_calls=options["max-concurrent-calls"],
            max_record_bytes=options["journal.max-record-bytes"],
            on_mismatch=options["replay.on-mismatch"],
            on_action_error=options["on-action-error"],
            journal_pickle=options["journal.pickle"],
            unclaimed_retention_ms=options["replay.unclaimed-retention"],
            max_subagent_calls=options["subagent.max-calls-per-run"],
            max_subagent_depth=options["subagent.max-depth"],
            max_tool_rounds=options["max-tool-rounds"],
            tool_parallelism=options["tool-call.parallelism"],
            tool_timeout_ms=options["tool-call.timeout"],
            log_keys=options["log-keys"],
            event_log="off" if options["event-log"] == "off" else options["event-log.level"],
            memory_expires=options["short-term-memory.ttl"] is not None,
        )
