"""One engine and its Java side: blocks of inputs in, blocks of effects out."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Iterator

import pytest

from flink_agents_subagent import Agent, InputEvent, OutputEvent, RunnerContext, action
from flink_agents_subagent._engine.effects import InputFinished
from flink_agents_subagent._flink import host as host_module
from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.effect_block import EffectBlock
from flink_agents_subagent._flink.host import OperatorHost
from flink_agents_subagent._flink.port import NO_TIMESTAMP
from flink_agents_subagent._plan import dump_plan
from flink_agents_subagent._plan.wire import python_version
from flink_agents_subagent.errors import ActionError
from flink_agents_subagent.options import resolve_options
from tests.unit._flink.fakes import FakeJava

_NOW_MS = 1000


class EchoAgent(Agent):
    """Emits each input; one that is an exception stops the engine."""

    @action(InputEvent)
    @staticmethod
    def handle(event: InputEvent, ctx: RunnerContext) -> None:
        """Emit the input."""
        if isinstance(event.input, Exception):
            raise event.input
        ctx.send_event(OutputEvent(output=event.input))


def _ask(question: str) -> str:
    """Never called here: the Java side of the tests starts no thread."""
    return question


class AskingAgent(Agent):
    """Makes a blocking call for each input; no longer for the one that its code has been changed for."""

    refused = ""

    @action(InputEvent)
    async def handle(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Call."""
        if event.input == self.refused:
            raise ValueError(event.input)
        await ctx.durable_execute_async(_ask, event.input)


def _settings(**options: str) -> bytes:
    told = {
        "version": 1,
        "python-version": python_version(),
        "job-identifier": "job",
        "operator-uid": "agent-echo",
        "input-format": "pickle",
        "output-format": "pickle",
        "options": resolve_options(options),
        "python-files-directory": "/nonexistent",
        "crash-at": "",
        "subtask": "3",
        "task-attempt": "2",
    }
    return json.dumps(told).encode()


@pytest.fixture
def java() -> FakeJava:
    """The Java side of `host`."""
    return FakeJava()


@pytest.fixture
def host(java: FakeJava, monkeypatch: pytest.MonkeyPatch) -> Iterator[OperatorHost]:
    """A started host, with a background loop that nobody needs, and a time slice that does not end by itself."""
    monkeypatch.setattr(host_module, "SLICE_SECONDS", 3600.0)
    made = OperatorHost(java, BackgroundLoop(), dump_plan(EchoAgent(), {}), _settings())
    assert made.start(_NOW_MS) is None
    yield made
    made.close()


@pytest.fixture
def logging(java: FakeJava) -> Iterator[OperatorHost]:
    """A started host with an event log."""
    made = OperatorHost(java, BackgroundLoop(), dump_plan(EchoAgent(), {}), _settings(**{"event-log": "slf4j"}))
    assert made.start(_NOW_MS) is None
    yield made
    made.close()


def _told(java: FakeJava) -> list[tuple[str, str]]:
    return [(event["what"], event["status"]) for event in java.events]


def _inputs(first_ticket: int, *values: object) -> bytes:
    inputs = [(b"sk%d" % (first_ticket + number), pickle.dumps(value)) for number, value in enumerate(values)]
    heads = [struct.pack(">qII", NO_TIMESTAMP, len(key), len(value)) for key, value in inputs]
    bodies = [key + value for key, value in inputs]
    return b"".join((struct.pack(">qqI", _NOW_MS, first_ticket, len(inputs)), *heads, *bodies))


def _effects(first_ticket: int, *outputs: object, left: int = 0) -> bytes | None:
    block = EffectBlock()
    if left:
        block.leave_inputs(left)
    for number, output in enumerate(outputs):
        block.emit(pickle.dumps(output, 5), None)
        block.finish_input(InputFinished(first_ticket + number))
    return block.take()


def test_inputs_that_came_together_are_taken_together(host: OperatorHost, java: FakeJava) -> None:
    """Their effects come as one block, in the order of the inputs [E1.1, PF1]."""
    effects = host.process(_inputs(1, "a", "b", "c"))

    assert effects == _effects(1, "a", "b", "c")
    assert java.performed == []


def test_inputs_behind_the_time_slice_are_given_back(host: OperatorHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow action holds mails up for one input at most, however many came together [PF5]."""
    monkeypatch.setattr(host_module, "SLICE_SECONDS", 0.0)

    assert host.process(_inputs(1, "a", "b", "c")) == _effects(1, "a", left=2)
    assert host.process(_inputs(2, "b", "c")) == _effects(2, "b", left=1)
    assert host.process(_inputs(3, "c")) == _effects(3, "c")


def test_what_earlier_inputs_sent_is_performed_before_a_failure(host: OperatorHost, java: FakeJava) -> None:
    """An input that stops the engine does not swallow the outputs of those that came with it [P5]."""
    with pytest.raises(ActionError, match="no such shop"):
        host.process(_inputs(1, "a", ValueError("no such shop"), "c"))

    assert java.performed == [_effects(1, "a")]


def test_nothing_is_sent_where_a_restored_run_cannot_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restored run that fails keeps the calls of all others from being made, whichever comes first [E3.7, E4.8]."""
    monkeypatch.setattr(host_module, "SLICE_SECONDS", 3600.0)
    before, after = FakeJava(), FakeJava()
    host = OperatorHost(before, BackgroundLoop(), dump_plan(AskingAgent(), {}), _settings())
    host.start(_NOW_MS)
    host.process(_inputs(1, "first", "second", "third"))
    host.snapshot(_NOW_MS)
    host.close()
    monkeypatch.setattr(AskingAgent, "refused", "second")
    restored = OperatorHost(after, BackgroundLoop(), dump_plan(AskingAgent(), {}), _settings())
    for key, entry in before.entries.items():
        assert entry is not None
        restored.restore_entry(key, entry)

    with pytest.raises(ActionError, match="second"):
        restored.start(_NOW_MS)
    restored.close()

    assert (len(before.started), after.started) == (3, [])


def test_lines_of_the_event_log_go_to_java_as_they_come(logging: OperatorHost, java: FakeJava) -> None:
    """One block for each command, every line with job, operator, subtask and attempt; the effects are as without [E7.2]."""
    effects = logging.process(_inputs(1, "a"))

    assert effects == _effects(1, "a")
    assert _told(java) == [
        ("run", "started"),
        ("execution", "started"),
        ("event", "sent"),
        ("execution", "ok"),
        ("run", "ok"),
    ]
    assert java.event_blocks == [5]
    assert java.events[0] == {
        "time": "1970-01-01T00:00:01.000Z",
        "job": "job",
        "operator": "agent-echo",
        "subtask": 3,
        "task_attempt": 2,
        "what": "run",
        "status": "started",
        "key": java.events[0]["key"],
        "run": 1,
        "replayed": False,
    }


def test_a_failure_is_in_the_event_log(logging: OperatorHost, java: FakeJava) -> None:
    """What led to the failure of the task is handed over before the task fails [E7.2]."""
    with pytest.raises(ActionError):
        logging.process(_inputs(1, ValueError("no such shop")))

    assert _told(java)[-1] == ("execution", "failed")
    assert java.events[-1]["error"] == "ValueError"


def test_lost_lines_are_counted_and_announced(logging: OperatorHost, java: FakeJava) -> None:
    """The next line that gets through says how many are missing since the start; the task goes on [E7.2]."""
    java.lines_to_lose = 5
    assert logging.process(_inputs(1, "a")) == _effects(1, "a")
    java.lines_to_lose = 1
    logging.process(_inputs(2, "b"))
    logging.process(_inputs(3, "c"))

    announced = [event["lines"] for event in java.events if event["what"] == "log"]
    lost = [amount for name, _, amount in java.counted if name == "event_log_lost"]

    assert (announced, lost) == ([5, 6], [5, 1])


def test_without_an_event_log_java_is_told_nothing(host: OperatorHost, java: FakeJava) -> None:
    """Off is the default [E7.2]."""
    host.process(_inputs(1, "a"))

    assert (java.events, java.event_blocks) == ([], [])


def test_a_restored_run_that_cannot_go_on_is_in_the_event_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the replay came to is told before the task fails [E7.2]."""
    before, after = FakeJava(), FakeJava()
    settings = _settings(**{"event-log": "slf4j"})
    host = OperatorHost(before, BackgroundLoop(), dump_plan(AskingAgent(), {}), settings)
    host.start(_NOW_MS)
    host.process(_inputs(1, "first"))
    host.snapshot(_NOW_MS)
    host.close()
    monkeypatch.setattr(AskingAgent, "refused", "first")
    restored = OperatorHost(after, BackgroundLoop(), dump_plan(AskingAgent(), {}), settings)
    for key, entry in before.entries.items():
        assert entry is not None
        restored.restore_entry(key, entry)

    with pytest.raises(ActionError, match="first"):
        restored.start(_NOW_MS)
    restored.close()

    assert _told(after) == [("run", "started"), ("execution", "started"), ("execution", "failed")]
