"""The way to Java sub-agents in a Flink operator (decision 0008): texts go out through the Java host, answers come back with a drain.

Owns numbers and texts; must not know what an answer means.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.port import JavaHost
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.subagents.java import JavaAnswer, JavaMode, JavaPort
from flink_agents_subagent.subagents.request import SubagentRequest

__all__ = ["JavaSubagents"]

_HEAD = struct.Struct(">qI")


class JavaSubagents:
    """The Java sub-agents of one operator instance; the `JavaPort` of its resources.

    Guarantee: a call that Java has answered resumes once; one that was cancelled is stopped, and its late answer dropped.
    """

    def __init__(self, java: JavaHost, background: BackgroundLoop) -> None:
        self._java = java
        self._background = background
        self._subagents: dict[str, int] = {}
        self._calls = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        """Loop thread."""

    def within(self, owners: Sequence[str]) -> JavaPort:
        """Return the way to Java for the resources of agents inside others, whose names may be those of other resources."""
        return _Within(self, "".join(f"{owner}/" for owner in owners)) if owners else self

    def open(self, resource: str, class_name: str, args: Mapping[str, Any]) -> JavaMode:
        """Make and open an instance.

        Thread: task thread.

        Raises:
            DefinitionError: It cannot be opened; names the class and the remedy.
        """
        number = self._subagents.setdefault(resource, len(self._subagents) + 1)
        description = {"resource": resource, "class": class_name, "args": args}
        answer = json.loads(self._java.openSubagent(number, _text(description)))
        if "failed" in answer:
            raise DefinitionError(f"sub-agent {resource!r}: {answer['failed']}")
        return JavaMode(is_async=answer["mode"] == "async", reconciles=answer["reconciles"])

    async def perform(self, resource: str, operation: str, request: SubagentRequest) -> JavaAnswer:
        """Let an instance do one thing and wait for its answer.

        Thread: background loop.
        """
        call = next(self._calls)
        future = asyncio.get_running_loop().create_future()
        self._waiting[call] = future
        try:
            self._java.callSubagent(call, self._subagents[resource], _text(_request(operation, request)))
            answer: JavaAnswer = json.loads(await future)
        except asyncio.CancelledError:
            self._java.cancelSubagentCall(call)
            raise
        finally:
            self._waiting.pop(call, None)
        return answer

    def close(self, resource: str) -> None:
        """Close an instance.

        Thread: task thread.
        """
        number = self._subagents.pop(resource, None)
        if number is not None:
            self._java.closeSubagent(number)

    def answer(self, packed: bytes) -> None:
        """Hand answers to the coroutines that wait for them.

        Thread: task thread.
        """
        self._background.post(functools.partial(self._resolve, packed))
        self._background.flush()

    def _resolve(self, packed: bytes) -> None:
        for call, answer in _unpacked(packed):
            future = self._waiting.get(call)
            # Cancelled meanwhile: nobody waits any more.
            if future is not None and not future.done():
                future.set_result(answer)


class _Within:
    """The way to Java for the resources of one agent inside another."""

    def __init__(self, java: JavaSubagents, prefix: str) -> None:
        self._java = java
        self._prefix = prefix

    def open(self, resource: str, class_name: str, args: Mapping[str, Any]) -> JavaMode:
        return self._java.open(self._prefix + resource, class_name, args)

    async def perform(self, resource: str, operation: str, request: SubagentRequest) -> JavaAnswer:
        return await self._java.perform(self._prefix + resource, operation, request)

    def close(self, resource: str) -> None:
        self._java.close(self._prefix + resource)


def _request(operation: str, request: SubagentRequest) -> dict[str, Any]:
    return {
        "operation": operation,
        "prompt": request.prompt,
        "session_id": request.session_id,
        "call_id": request.call_id,
        "run": request.run,
        "attempt": request.attempt,
        "deadline_ms": None if request.deadline is None else _milliseconds(request.deadline),
        "trace_parent": request.trace_parent,
    }


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _text(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")


def _unpacked(packed: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset < len(packed):
        call, length = _HEAD.unpack_from(packed, offset)
        offset += _HEAD.size
        yield call, packed[offset : offset + length]
        offset += length
