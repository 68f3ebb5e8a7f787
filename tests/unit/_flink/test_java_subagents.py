"""The way to Java sub-agents: texts out, answers back on the background loop."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import datetime, timezone
from typing import Any

import pytest

from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.java_subagents import JavaSubagents
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.subagents import SubagentRequest
from flink_agents_subagent.subagents.java import JavaMode
from tests.unit._flink.fakes import FakeJava

REQUEST = SubagentRequest({"é": "\ud800"}, "s", "c", 2, datetime(2030, 1, 1, tzinfo=timezone.utc), run="job")


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    """A loop on a thread of its own."""
    loop = BackgroundLoop()
    thread = threading.Thread(target=loop.run)
    thread.start()
    loop.wait_until_running()
    yield loop
    loop.stop()
    thread.join()


def perform(background: BackgroundLoop, subagents: JavaSubagents, operation: str = "call") -> Future[Any]:
    """Start a call on the loop."""
    assert background._loop is not None
    return asyncio.run_coroutine_threadsafe(subagents.perform("pricer", operation, REQUEST), background._loop)


def packed(*answers: tuple[int, Any]) -> bytes:
    """Return answers as Java packs them."""
    texts = [(call, json.dumps(answer).encode()) for call, answer in answers]
    return b"".join(struct.pack(">qI", call, len(text)) + text for call, text in texts)


def wait_called(java: FakeJava) -> None:
    """Return after Java was told something."""
    assert java.is_called.acquire(timeout=30), "nobody called Java"


def test_opening_tells_java_all_and_gives_the_mode(background: BackgroundLoop) -> None:
    """Resource, class and arguments cross; each resource has a number of its own [B1, B2]."""
    java = FakeJava()
    subagents = JavaSubagents(java, background)
    java.mode = {"mode": "async", "reconciles": True}

    mode = subagents.open("pricer", "com.acme.Pricer", {"a": [1]})
    subagents.open("other", "com.acme.Pricer", {})
    subagents.close("other")
    subagents.close("other")

    assert mode == JavaMode(is_async=True, reconciles=True)
    assert java.opened[1] == {"resource": "pricer", "class": "com.acme.Pricer", "args": {"a": [1]}}
    assert (java.opened[2]["resource"], java.closed) == ("other", [2])


def test_a_class_that_cannot_be_opened_names_the_resource(background: BackgroundLoop) -> None:
    """What Java says is raised with the resource; the instance is closed all the same [B5, R3]."""
    java = FakeJava()
    java.mode = {"failed": "the class com.acme.Pricer is in no jar"}
    subagents = JavaSubagents(java, background)

    with pytest.raises(DefinitionError, match=r"'pricer': the class com\.acme\.Pricer is in no jar"):
        subagents.open("pricer", "com.acme.Pricer", {})
    subagents.close("pricer")
    assert java.closed == [1]


def test_answers_resume_the_calls_that_wait(background: BackgroundLoop) -> None:
    """Each call gets its own answer, whatever order they come in, and an unknown one is passed over [B2, B3]."""
    java = FakeJava()
    subagents = JavaSubagents(java, background)
    subagents.open("pricer", "com.acme.Pricer", {})
    first = perform(background, subagents)
    wait_called(java)
    second = perform(background, subagents, "reconcile")
    wait_called(java)

    subagents.answer(packed((2, {"done": True}), (77, {}), (1, {"result": {"ok": True}})))

    assert first.result(30) == {"result": {"ok": True}}
    assert second.result(30) == {"done": True}
    call, subagent, request = java.called[0]
    assert (call, subagent, java.called[1][2]["operation"]) == (1, 1, "reconcile")
    assert request == {
        "operation": "call",
        "prompt": {"é": "\ud800"},
        "session_id": "s",
        "call_id": "c",
        "run": "job",
        "attempt": 2,
        "deadline_ms": 1893456000000,
        "trace_parent": REQUEST.trace_parent,
    }


def test_a_cancelled_call_is_stopped_and_its_late_answer_dropped(background: BackgroundLoop) -> None:
    """Java is told once, and nobody is woken by what comes afterwards [I6, E3.11]."""
    java = FakeJava()
    subagents = JavaSubagents(java, background)
    subagents.open("pricer", "com.acme.Pricer", {})
    call = perform(background, subagents)
    wait_called(java)

    call.cancel()
    wait_called(java)
    subagents.answer(packed((1, {"done": True})))
    following = perform(background, subagents)
    wait_called(java)
    subagents.answer(packed((2, {"done": True})))

    assert following.result(30) == {"done": True}
    assert java.cancelled == [1]
    assert subagents._waiting == {}
