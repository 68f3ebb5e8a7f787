"""What an action's failure is called: errors, dead letters, keys in messages (E1.8). Decides nothing."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from flink_agents_subagent._engine import metric
from flink_agents_subagent._engine.core import EngineCore
from flink_agents_subagent._engine.effects import Emit
from flink_agents_subagent._engine.encoding import key_value
from flink_agents_subagent._engine.encoding.exceptions import text_of
from flink_agents_subagent.errors import ActionError, ContextMisuseError, ReplayMismatchError

if TYPE_CHECKING:
    from flink_agents_subagent._engine.run import Run

__all__ = ["RunFailure", "action_error", "emit_dead_letter", "key_text", "mismatch_error", "stuck"]

_log = logging.getLogger(__name__)


class RunFailure(NamedTuple):
    """An exception that escaped an action."""

    action: str
    error: BaseException


def key_text(core: EngineCore, key: bytes) -> str:
    """Return a key for messages: as it is, or hashed unless the option `log-keys` is set."""
    if core.settings.log_keys:
        return repr(key_value(key))
    return f"#{hashlib.blake2b(key, digest_size=6).hexdigest()}"


def action_error(run: Run, action: str, error: BaseException) -> ActionError:
    """Return the error that says where an exception escaped; the exception is its cause."""
    failure = ActionError(
        f"action {action!r} of agent {run.core.agent.name!r} failed for key {key_text(run.core, run.key)}, "
        f"run {run.journal.number_text}: {type(error).__name__}: {text_of(error)}"
    )
    failure.__cause__ = error
    return failure


def mismatch_error(run: Run, text: str) -> ReplayMismatchError:
    """Return the error that says where code and journal disagree; `text` names both sides."""
    return ReplayMismatchError(
        f"agent {run.core.agent.name!r}, key {key_text(run.core, run.key)}, run {run.journal.number_text}: the code does not do what is "
        f"recorded: {text}. Bring back the code that wrote the journal, guard the change with ctx.patched, or set "
        "replay.on-mismatch: rerun"
    )


def emit_dead_letter(run: Run, action: str, error: BaseException) -> None:
    """Send an input to the dead-letter side output, with the exception that escaped the action."""
    core = run.core
    _log.info(
        "an input was dead-lettered",
        exc_info=action_error(run, action, error),
        extra={"agent": core.agent.name, "action": action},
    )
    core.count(metric.DEAD_LETTERS)
    core.effects.append(Emit(_dead_letter(run, action, error), run.timestamp, True, run.key))


def _dead_letter(run: Run, action: str, error: BaseException) -> dict[str, Any]:
    """Return what the dead-letter side output gets for an input (decision 0005)."""
    return {
        "agent": run.core.agent.name,
        "action": action,
        "key": key_value(run.key),
        "input": run.decode_input(),
        "error_type": type(error).__name__,
        "error_message": text_of(error),
    }


def stuck() -> ContextMisuseError:
    """Return why an action that waits for nothing that can happen is ended."""
    return ContextMisuseError(
        "the action waits, but no durable call is in flight and no timer is set, so that nothing will ever wake it; "
        "await what it started, or set what it waits for"
    )
