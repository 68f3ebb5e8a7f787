"""What an implementation of a sub-agent is given. Data only; it never holds a context (M1)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

__all__ = ["SubagentRequest"]


@dataclass(frozen=True, slots=True)
class SubagentRequest:
    """One invocation of a sub-agent, as its implementation sees it.

    Replay: all fields but `attempt`, `deadline` and `run` are the same for a repeated invocation.
    """

    prompt: Any
    """The value given to `submit`, as it was then."""
    session_id: str
    """The conversation that the call belongs to."""
    call_id: str
    """Identifies the invocation; the same whenever it is repeated. Send it as the idempotency key (D3)."""
    attempt: int = 1
    """Counts the attempts since the task started, from 1."""
    deadline: datetime | None = None
    """When the caller stops waiting (UTC); None: never."""
    run: Any = None
    """What `call_submit_request` returned for this call; None before it did, and when its answer was lost in a crash."""

    @property
    def trace_parent(self) -> str:
        """W3C `traceparent` of the call: one trace per session, one span per call."""
        trace = hashlib.sha256(self.session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        span = hashlib.sha256(self.call_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"00-{trace}-{span}-01"
