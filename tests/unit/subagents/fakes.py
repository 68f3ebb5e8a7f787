"""A context that takes calls and lets the test decide about them."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, NamedTuple

from flink_agents_subagent.context import CallSpec, DurableHandle


class Identity(NamedTuple):
    """Ids of one invocation."""

    session_id: str
    call_id: str


class FakeHandle(DurableHandle[Any]):
    """A handle that the test resolves."""

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def __await__(self) -> Generator[Any, None, Any]:
        return self.future.__await__()

    def done(self) -> bool:
        """Tell whether it was resolved."""
        return self.future.done()

    def failure(self) -> BaseException | None:
        """Tell what it was failed with."""
        return self.future.exception() if self.future.done() and not self.future.cancelled() else None

    def cancel(self) -> bool:
        """Cancel it."""
        return self.future.cancel()


class FakeContext:
    """The part of a context that sub-agents use."""

    def __init__(self) -> None:
        self.specs: list[CallSpec] = []
        self.handles: list[FakeHandle] = []
        self.asked: list[tuple[str, str | None]] = []

    def _fingerprint(self, *values: Any) -> bytes:
        return repr(values).encode()

    def _subagent_identity(self, subagent: str, session_id: str | None) -> Identity:
        self.asked.append((subagent, session_id))
        session = session_id or f"session-{len(self.asked)}"
        return Identity(session, f"{session}-{len(self.asked)}")

    def _admit_subagent(self, subagent: str, max_calls: int | None) -> str | None:
        return None

    def _open_call(self, spec: CallSpec) -> FakeHandle:
        self.specs.append(spec)
        self.handles.append(FakeHandle())
        return self.handles[-1]
