"""The event log as effects: what is told of runs, executions, events and calls, live and on replay (E7.2, decision 0015)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from flink_agents_subagent import Event, InputEvent, OutputEvent, RetryPolicy, RunnerContext
from flink_agents_subagent._engine.effects import Append, Effect, Log
from flink_agents_subagent._engine.log_line import LogLines
from tests.unit._engine.children import agent, ask, host_of
from tests.unit._engine.host import Host, agent_of, on

_STANDARD = {"event_log": "standard", "log_keys": True}
_VERBOSE = {**_STANDARD, "event_log": "verbose"}


class Asked(Event):
    """An event of an author."""

    text: str


async def ask_shop(text: str, token: str = "") -> str:
    """A durable function."""
    return f"{text}!"


async def asking(event: InputEvent, ctx: RunnerContext) -> None:
    """Call, and send what came back."""
    answer = await ctx.durable_execute_async(ask_shop, event.input, token="s3cret")  # noqa: S106 - a made-up one
    ctx.send_event(OutputEvent(output=answer))


def _entries(host: Host) -> list[dict[str, Any]]:
    return [dict(effect.entry) for effect in host.of(Log)]


def _told(host: Host, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(entry.get(name) for name in ("what", "status", *names)) for entry in _entries(host)]


def _calls(host: Host, *names: str) -> list[tuple[Any, ...]]:
    return [told[1:] for told in _told(host, *names) if told[0] == "call"]


def _without_log(effects: list[Effect]) -> list[Any]:
    # Functions are other objects in each engine.
    return [
        (type(effect), effect[3:] if isinstance(effect, Append) else effect[-1:])
        for effect in effects
        if not isinstance(effect, Log)
    ]


def test_a_run_is_told_from_its_start_to_its_end() -> None:
    """Each entry says what it is, in which run, within what, and how long it took by the engine's time [E7.2]."""
    host = Host(agent_of(asking), **_STANDARD)
    host.start()
    host.input("a")
    host.advance(250)
    host.returns("b")
    host.acknowledge()

    about = {"key": "'k'", "run": 1}
    numbered = {**about, "run_number": 1}
    execution = {"execution": "0", "agent": "agent", "action": "asking", "event": "e0"}
    call = {"call": "0.0", "parent": "0", "name": f"{__name__}:ask_shop"}
    began, ended = {"time_ms": 1_000_000}, {"time_ms": 1_000_250}

    assert _entries(host) == [
        {**began, "what": "run", "status": "started", **about, "replayed": False},
        {
            **began,
            "what": "execution",
            "status": "started",
            **about,
            **execution,
            "replayed": False,
            "event_type": "InputEvent",
        },
        {**began, "what": "call", "status": "started", **numbered, **call, "attempt": 1, "replayed": False},
        {**ended, "what": "call", "status": "ok", **numbered, **call, "replayed": False, "duration_ms": 250},
        {
            **ended,
            "what": "event",
            "status": "sent",
            **numbered,
            "event": "e1",
            "parent": "0",
            "event_type": "OutputEvent",
            "replayed": False,
        },
        {
            **ended,
            "what": "execution",
            "status": "ok",
            **numbered,
            **execution,
            "duration_ms": 250,
            "replayed": False,
        },
        {**ended, "what": "run", "status": "ok", **numbered, "duration_ms": 250, "replayed": False},
    ]


@pytest.mark.parametrize("settings", [_STANDARD, _VERBOSE])
def test_nothing_else_changes_with_an_event_log(settings: dict[str, Any]) -> None:
    """The effects of a run are the same, in the same order, with the log and without [E7.2, E4.6]."""

    def direct(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=event.input))

    for action in (asking, direct):
        plain, logged = Host(agent_of(action)), Host(agent_of(action), **settings)
        for host in (plain, logged):
            host.start()
            host.input("a")
            host.run()

        assert _without_log(logged.effects) == _without_log(plain.effects)
        assert not plain.of(Log)


def test_a_replayed_call_is_told_as_such() -> None:
    """Once as made, and once as taken from the journal; it has no duration then [E7.2, E4.3]."""

    async def twice(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, "first")
        await ctx.durable_execute_async(ask_shop, "second")

    before = Host(agent_of(twice), **_STANDARD)
    before.start()
    before.input("a")
    disk = before.snapshot()
    before.returns("b")
    before.acknowledge()
    disk.log, disk.entries = before.disk.log, before.disk.entries
    after = Host(agent_of(twice), disk, now_ms=2_000_000, **_STANDARD)
    after.start()
    after.run()

    names = ("call", "replayed", "duration_ms")
    assert _calls(before, *names) == [
        ("started", "0.0", False, None),
        ("ok", "0.0", False, 0),
        ("started", "0.1", False, None),
    ]
    assert _calls(after, *names) == [
        ("ok", "0.0", True, None),
        ("started", "0.1", False, None),
        ("ok", "0.1", False, 0),
    ]
    assert [told for told in _told(after, "replayed", "duration_ms") if told[0] == "run"] == [
        ("run", "started", True, None),
        ("run", "ok", False, 1_000_000),
    ]


def test_an_execution_that_had_ended_is_told_as_replayed() -> None:
    """Its code does not run again, and its calls are not told [E7.2, E4.5]."""

    async def first(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, "first")
        ctx.send_event(Asked(text="more"))

    @on(Asked)
    async def second(event: Asked, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, event.text)

    before = Host(agent_of(first, second), **_STANDARD)
    before.start()
    before.input("a")
    before.returns("b")
    before.acknowledge()
    after = Host(agent_of(first, second), before.snapshot(), **_STANDARD)
    after.disk.entries = before.disk.entries
    after.start()
    after.run()

    assert [told for told in _told(after, "execution", "replayed", "event") if told[0] == "execution"] == [
        ("execution", "started", "0", True, "e0"),
        ("execution", "ok", "0", True, "e0"),
        ("execution", "started", "1", False, "e1"),
        ("execution", "ok", "1", False, "e1"),
    ]
    assert _calls(after, "call") == [("started", "1.0"), ("ok", "1.0")]


def test_a_sub_agent_is_told_with_its_session_and_what_is_in_it() -> None:
    """Ids of what is within a call begin with its own, and `parent` leads out again [E7.2, N1]."""

    async def caller(event: InputEvent, ctx: RunnerContext) -> None:
        await ask(ctx, "child", event.input)

    host = host_of(agent(caller, child=agent(asking, name="child")), **_STANDARD)
    host.start()
    host.input("a")
    host.run()

    told = _told(host, "call", "execution", "event", "parent", "subagent", "agent")
    (session,) = {entry["session"] for entry in _entries(host) if "session" in entry}
    ids = {entry["call_id"] for entry in _entries(host) if "call_id" in entry}

    assert told[2:-2] == [
        ("call", "started", "0.0", None, None, "0", "child", None),
        ("execution", "started", None, "0.0/0", "0.0/e0", "0.0", None, "child"),
        ("call", "started", "0.0/0.0", None, None, "0.0/0", None, None),
        ("call", "ok", "0.0/0.0", None, None, "0.0/0", None, None),
        ("event", "sent", None, None, "0.0/e1", "0.0/0", None, None),
        ("execution", "ok", None, "0.0/0", "0.0/e0", "0.0", None, "child"),
        ("call", "ok", "0.0", None, None, "0", "child", None),
    ]
    assert ids == {f"{session}-0"}


@pytest.mark.logs_warning
def test_a_sub_agent_that_fails_or_takes_too_long_is_told_once() -> None:
    """Its failed result is `failed`, its time-out `timeout`; the actions within are `failed` and `cancelled` [E7.2, N4]."""

    async def failing(event: InputEvent, ctx: RunnerContext) -> None:
        raise ValueError("no")

    async def waiting(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.sleep(3600)

    async def caller(event: InputEvent, ctx: RunnerContext) -> None:
        await ask(ctx, "failing")
        await ask(ctx, "waiting", timeout=1)

    children = {"failing": agent(failing, name="failing"), "waiting": agent(waiting, name="waiting")}
    host = host_of(agent(caller, **children), **_STANDARD)
    host.start()
    host.input("a")
    host.run()

    ends = [told for told in _told(host, "call", "execution", "error") if told[1] not in ("started", "sent")]
    assert ends == [
        ("execution", "failed", None, "0.0/0", "ValueError"),
        ("call", "failed", "0.0", None, None),
        ("call", "timeout", "0.1", None, None),
        ("execution", "cancelled", None, "0.1/0", None),
        ("execution", "ok", None, "0", None),
        ("run", "ok", None, None, None),
    ]


def test_failed_attempts_time_outs_and_cancellations_are_told() -> None:
    """Each attempt with its number; what is not wanted any more with its time [E7.2, E3.9, E3.11]."""

    async def trying(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, "retried", retry=RetryPolicy(max_attempts=2))
        await asyncio.wait([ctx.durable_execute_async(ask_shop, "late", timeout=1)])
        ctx.durable_execute_async(ask_shop, "dropped")
        await asyncio.sleep(1)

    host = Host(agent_of(trying), **_STANDARD)
    host.start()
    host.input("a")
    host.advance(10)
    host.raises(OSError("gone"))
    host.acknowledge()
    host.advance(1000)
    host.returns("b")
    host.acknowledge()
    host.advance(1000)
    host.acknowledge()
    host.advance(1000)
    host.acknowledge()

    assert _calls(host, "call", "attempt", "duration_ms", "error") == [
        ("started", "0.0", 1, None, None),
        ("retry", "0.0", 1, 10, "OSError"),
        ("started", "0.0", 2, None, None),
        ("ok", "0.0", None, 1010, None),
        ("started", "0.1", 1, None, None),
        ("timeout", "0.1", None, 1000, None),
        ("started", "0.2", 1, None, None),
        ("cancelled", "0.2", None, 1000, None),
    ]


def test_a_failed_action_is_told_and_its_input_dead_lettered() -> None:
    """The action that raised is `failed`, another that waited is `cancelled` [E7.2, E1.8]."""

    async def patient(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, event.input)

    def hasty(event: InputEvent, ctx: RunnerContext) -> None:
        raise ValueError("no such shop")

    host = Host(agent_of(patient, hasty), **_STANDARD, on_action_error="dead-letter")
    host.start()
    host.input("a")

    assert _told(host, "action", "error")[3:] == [
        ("execution", "failed", "hasty", "ValueError"),
        ("execution", "cancelled", "patient", None),
        ("run", "dead-letter", None, None),
    ]


def test_an_action_that_nothing_can_wake_is_told_as_failed() -> None:
    """The engine ends it, and the log says which one [E7.2]."""

    async def stuck(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.get_running_loop().create_future()

    host = Host(agent_of(stuck), **_STANDARD)
    host.start()
    host.input("a")

    assert _told(host, "execution", "error")[-1] == ("execution", "failed", "0", "ContextMisuseError")


def test_calls_of_def_actions_are_told() -> None:
    """Made, replayed, failed: as those of other actions [E7.2, E3.16]."""

    def blocking(text: str, token: str) -> str:
        if text == "bad":
            raise ValueError(text)
        return text

    def calling(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.durable_execute(blocking, "good", "s3cret")
        try:
            ctx.durable_execute(blocking, "bad", token="s3cret")  # noqa: S106 - a made-up one
        except ValueError:
            ctx.durable_execute(blocking, "last", "s3cret")

    before = Host(agent_of(calling), **_VERBOSE)
    before.start()
    before.input("a")
    after = Host(agent_of(calling), before.disk.checkpointed(), **_VERBOSE)
    after.disk.log = before.disk.log
    after.start()
    after.input("a")

    names = ("call", "replayed", "arguments", "result", "error")
    good, bad = ({"text": text, "token": "[redacted]"} for text in ("good", "bad"))
    assert _calls(before, *names)[:4] == [
        ("started", "0.0", False, good, None, None),
        ("ok", "0.0", False, None, "good", None),
        ("started", "0.1", False, bad, None, None),
        ("failed", "0.1", False, None, None, "ValueError"),
    ]
    assert _calls(after, *names)[:2] == [
        ("ok", "0.0", True, good, "good", None),
        ("failed", "0.1", True, bad, None, "ValueError"),
    ]


def test_values_are_told_at_level_verbose_alone() -> None:
    """Input, attributes of events, arguments, results, messages of errors; credentials never [E7.2]."""

    async def failing(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, event.input, token="s3cret")  # noqa: S106 - a made-up one
        ctx.send_event(Asked(text="hello"))
        raise ValueError("no such shop")

    told = {}
    for level in ("standard", "verbose"):
        host = Host(agent_of(failing), event_log=level, on_action_error="dead-letter")
        host.start()
        host.input("a")
        host.returns("b")
        host.acknowledge()
        names = ("input", "arguments", "result", "attributes", "error_message")
        told[level] = [{name: it[name] for name in names if name in it} for it in _entries(host)]
        assert "s3cret" not in str(_entries(host))

    assert not any(told["standard"])
    assert [it for it in told["verbose"] if it] == [
        {"input": "a"},
        {"arguments": {"text": "a", "token": "[redacted]"}},
        {"result": "b"},
        {"attributes": {"text": "hello"}},
        {"error_message": "no such shop"},
    ]


class Unfriendly:
    """A value that nothing can be done with."""

    def __iter__(self) -> Iterator[Any]:
        """Fail."""
        raise RuntimeError

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError


class Carrying(Event):
    """An event with any value."""

    value: Any


def test_values_that_cannot_be_shown_break_nothing() -> None:
    """They are named by type, and the run is what it is without the log [E7.2]."""

    def sending(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Carrying(value=Unfriendly()))
        ctx.send_event(OutputEvent(output="done"))

    host = Host(agent_of(sending), **_VERBOSE)
    host.start()
    host.input("a")

    attributes = [entry["attributes"] for entry in _entries(host) if entry["what"] == "event"]
    assert attributes == [{"value": {"type": "Unfriendly"}}, {"output": "done"}]
    assert host.outputs == ["done"]


def test_keys_are_hashed_unless_they_may_be_shown() -> None:
    """As in errors [E7.2, E1.8]."""
    shown = []
    for log_keys in (False, True):
        host = Host(agent_of(asking), event_log="standard", log_keys=log_keys)
        host.start()
        host.input("a", key="ada")
        shown.append(_entries(host)[0]["key"])

    assert shown[1] == "'ada'"
    assert shown[0].startswith("#")
    assert "ada" not in shown[0]


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_767_225_600_007, "2026-01-01T00:00:00.007Z"),
        (1 << 62, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_line_is_one_json_object(time_ms: int, text: str) -> None:
    """Whatever is in it; time and place come first [E7.2]."""
    lines = LogLines({"job": "a\nb", "subtask": 0})

    line = lines.line({"time_ms": time_ms, "what": "run", "key": "\ud800 ü\n"})

    assert line == f'{{"time": "{text}", "job": "a\\nb", "subtask": 0, "what": "run", "key": "\\ud800 \\u00fc\\n"}}'


def test_a_cancelled_sub_agent_call_is_told_on_replay_too() -> None:
    """Live, and after a restore by which it was over [E7.2, I7, N3]."""

    async def waiting(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(ask_shop, "never")

    async def caller(event: InputEvent, ctx: RunnerContext) -> None:
        future = ask(ctx, "child")
        await asyncio.wait([asyncio.ensure_future(future)], timeout=1)
        future.cancel()
        await ctx.durable_execute_async(ask_shop, "last")

    made = agent(caller, child=agent(waiting, name="child"))
    before = host_of(made, **_STANDARD)
    before.start()
    before.input("a")
    before.advance(1000)
    before.acknowledge()
    before.snapshot()
    after = host_of(made, before, **_STANDARD)

    of_child = [
        [told[1:] for told in _told(host, "replayed", "subagent") if told[-1] == "child"] for host in (before, after)
    ]
    assert of_child == [
        [("started", False, "child"), ("cancelled", False, "child")],
        [("started", True, "child"), ("cancelled", True, "child")],
    ]
