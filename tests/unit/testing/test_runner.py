from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    Agent,
    AgentError,
    ContextMisuseError,
    DefinitionError,
    DurableTimeoutError,
    InputEvent,
    NotExpressibleError,
    OutputEvent,
    Resource,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    action,
)
from flink_agents_subagent.testing import LocalCall, LocalOutput, LocalRunner, ManualClock


async def wait(seconds: float) -> float:
    """A coroutine function that takes its time."""
    await asyncio.sleep(seconds)
    return seconds


def double(number: int) -> int:
    """A blocking function."""
    return 2 * number


def _agent(function: Callable[..., Any]) -> Agent:
    return Agent("sample").add_action("act", InputEvent, function)


class Counter(Agent):
    """Counts per key."""

    @action(InputEvent)
    def count(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Count."""
        total = ctx.short_term_memory.get("total", 0) + event.input
        ctx.short_term_memory.set("total", total)
        ctx.short_term_memory.set("last.value", event.input)
        ctx.send_event(OutputEvent(output=total))


def test_outputs_keys_timestamps_and_memory_come_back() -> None:
    """A run returns everything that it caused, by key [E8.1, E1.2, E6.2]."""
    result = LocalRunner(Counter()).run([("ada", 1, 5), ("ben", 2), ("ada", 3, 6)])

    assert result.outputs == [LocalOutput("ada", 1, 5), LocalOutput("ben", 2, None), LocalOutput("ada", 4, 6)]
    assert result.values == [1, 2, 4]
    assert result.values_of("ada") == [1, 4]
    assert result.memory == {
        "ada": {"total": 4, "last": {"value": 3}},
        "ben": {"total": 2, "last": {"value": 2}},
    }
    assert result.calls == []


def test_memory_lasts_from_run_to_run() -> None:
    """A runner is one job: a later run finds what an earlier one remembered, and returns its own outputs only [E8.1]."""
    runner = LocalRunner(Counter())

    assert runner.run([("ada", 1)]).values == [1]
    assert runner.run([("ada", 1)]).values == [2]


def test_keys_of_every_type_come_back() -> None:
    """A key is what the author gave [E8.1, S1.7]."""
    keys = ["ada", 7, b"\0", True, ("ada", 1)]

    result = LocalRunner(Counter()).run([(key, 1) for key in keys])

    assert [output.key for output in result.outputs] == keys
    assert [type(key) for key in result.memory] == [type(key) for key in keys]


def test_waiting_takes_virtual_time_only() -> None:
    """Calls of different keys overlap in virtual time, those of one key follow each other [E8.1, E1.1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(wait, event.input)
        await asyncio.sleep(60)
        ctx.send_event(OutputEvent(output=(event.input, ctx.now().isoformat())))

    clock = ManualClock()
    result = LocalRunner(_agent(act), clock=clock).run([("ada", 3600), ("ada", 60), ("ben", 7200)])

    assert result.values_of("ada") == [(3600, "2024-01-01T01:01:00+00:00"), (60, "2024-01-01T01:03:00+00:00")]
    assert result.values_of("ben") == [(7200, "2024-01-01T02:01:00+00:00")]
    assert clock.now().isoformat() == "2024-01-01T02:01:00+00:00"


def test_calls_are_listed_as_they_started() -> None:
    """Name, key, outcome, attempt and cancellation of each function that was called [E8.1, E3.9]."""
    left = [2]

    def flaky() -> str:
        left[0] -= 1
        if left[0]:
            raise ConnectionError("down")
        return "up"

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        retry = RetryPolicy(max_attempts=3, initial=timedelta(hours=1))
        await ctx.durable_execute_async(flaky, durable_id="flaky", retry=retry)
        abandoned = ctx.durable_execute_async(wait, 100, durable_id="abandoned")
        await asyncio.sleep(1)
        abandoned.cancel()
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(double, event.input)))

    calls = LocalRunner(_agent(act)).run([("ada", 4)]).calls

    assert [(call.name, call.value, call.is_cancelled, call.attempt) for call in calls] == [
        ("flaky", None, False, 1),
        ("flaky", "up", False, 2),
        ("abandoned", None, True, 1),
        (f"{__name__}:double", 8, False, 1),
    ]
    assert isinstance(calls[0].error, ConnectionError)
    assert {call.key for call in calls} == {"ada"}
    assert isinstance(calls[0], LocalCall)


def test_calls_of_def_actions_are_listed() -> None:
    """A recorded outcome of `durable_execute` is a call that was made [E8.1, E3.16]."""

    def refuse() -> None:
        raise ConnectionError("down")

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        value = ctx.durable_execute(double, event.input)
        with pytest.raises(ConnectionError):
            ctx.durable_execute(refuse, durable_id="refuse", reconciler=lambda: None)
        ctx.send_event(OutputEvent(output=value))

    calls = LocalRunner(_agent(act)).run([("ada", 4)]).calls

    assert [(call.name, call.key, call.value) for call in calls] == [
        (f"{__name__}:double", "ada", 8),
        ("refuse", "ada", None),
    ]
    assert isinstance(calls[1].error, ConnectionError)


def test_a_blocking_function_can_take_virtual_time() -> None:
    """A function that moves the clock beyond its time-out is late, and its result is dropped [E8.1, E3.10]."""
    clock = ManualClock()

    def slow() -> str:
        clock.advance(10)
        return "too late"

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        for timeout in (10.001, 9.0):
            try:
                result = await ctx.durable_execute_async(slow, timeout=timeout)
            except DurableTimeoutError:
                result = "timed out"
            ctx.send_event(OutputEvent(output=result))

    assert LocalRunner(_agent(act), clock=clock).run([("ada", 1)]).values == ["too late", "timed out"]


def test_inputs_are_copied() -> None:
    """An action that changes its input changes nothing else; outputs are what they were when they were sent [E8.1]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=event.input))
        event.input.append(2)
        ctx.send_event(OutputEvent(output=event.input))

    given = [1]
    result = LocalRunner(_agent(act)).run([("ada", given)])

    assert given == [1]
    assert result.values == [[1], [1, 2]]


def test_an_escaping_exception_fails_the_run() -> None:
    """The error names the action, and the exception is its cause [E8.1, E1.8]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        raise KeyError(event.input)

    with pytest.raises(ActionError, match="act") as caught:
        LocalRunner(_agent(act)).run([("ada", 1)])

    assert isinstance(caught.value.__cause__, KeyError)


def test_a_dead_letter_is_returned() -> None:
    """With `on-action-error: dead-letter` the input is reported, the other outputs and memory stay [E8.1, E1.8, E6.3]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.short_term_memory.set("last", event.input)
        if event.input == 2:
            raise KeyError(event.input)
        ctx.send_event(OutputEvent(output=event.input))

    runner = LocalRunner(_agent(act), options={"on-action-error": "dead-letter"})
    result = runner.run([("ada", 1), ("ada", 2, 7)])

    assert result.values == [1]
    assert [(letter.key, letter.timestamp, letter.value["input"]) for letter in result.dead_letters] == [("ada", 7, 2)]
    assert result.memory == {"ada": {"last": 1}}


def test_an_action_that_waits_for_nothing_is_named() -> None:
    """A run that can never end is an error with its key, not a hanging test [E8.1]."""

    async def never(event: InputEvent) -> None:
        await asyncio.Event().wait()

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(never, event)

    with pytest.raises(AgentError, match=r"1 of 1 inputs never end \(keys 'ada'\)"):
        LocalRunner(_agent(act)).run([("ada", 1)])


def test_a_durable_function_cannot_touch_the_context() -> None:
    """Also in line, the context belongs to the action alone [E8.1, E3.12]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(ContextMisuseError):
            await ctx.durable_execute_async(lambda: ctx.send_event(OutputEvent(output=1)))

    assert LocalRunner(_agent(act)).run([("ada", 1)]).values == []


def test_a_runner_works_inside_an_asynchronous_test() -> None:
    """`run` may be called while another loop runs [E8.1]."""

    async def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(wait, 5)))

    async def asynchronous_test() -> list[Any]:
        return LocalRunner(_agent(act)).run([("ada", 1)]).values

    assert asyncio.run(asynchronous_test()) == [5]


class Connection(Resource):
    """Is opened and closed asynchronously."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    async def open(self) -> None:  # type: ignore[override]  # may be `async`, as its contract says
        """Open slowly."""
        await asyncio.sleep(30)
        self.log.append("open")

    async def close(self) -> None:  # type: ignore[override]  # as above
        """Close."""
        self.log.append("close")


def test_resources_are_open_while_a_run_lasts() -> None:
    """Each run opens and closes them, also when an action fails [E8.1, R3]."""
    log: list[str] = []

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.get_resource("connection", ResourceType.OBJECT).log.append("use")
        if event.input == 2:
            raise KeyError(event.input)

    agent = _agent(act).add_resource("connection", ResourceType.OBJECT, Connection(log))
    runner = LocalRunner(agent)
    runner.run([("ada", 1)])
    with pytest.raises(ActionError):
        runner.run([("ada", 2)])

    assert log == ["open", "use", "close", "open", "use", "close"]


def test_only_an_agent_runs() -> None:
    """Something else is named [R2]."""
    with pytest.raises(DefinitionError, match="an agent is an instance of Agent, not 'x'"):
        LocalRunner("x")  # type: ignore[arg-type]  # what an author may pass


def test_options_are_checked() -> None:
    """A wrong option is refused as it is in a job [E8.1]."""
    with pytest.raises(DefinitionError, match="on-action-error"):
        LocalRunner(Counter(), options={"on-action-eror": "dead-letter"})


@pytest.mark.parametrize(
    ("given", "error"),
    [
        pytest.param("ada", DefinitionError, id="no-pair"),
        pytest.param(("ada",), DefinitionError, id="no-value"),
        pytest.param((1.5, 1), NotExpressibleError, id="key-of-another-type"),
    ],
)
def test_wrong_inputs_are_refused(given: Any, error: type[Exception]) -> None:
    """What is no pair of key and value, or has no key, is named [E8.1]."""
    with pytest.raises(error):
        LocalRunner(Counter()).run([given])


@dataclass
class Point:
    """An output of an author's own type."""

    x: int


def test_outputs_of_any_type_come_back() -> None:
    """An output need not be encodable [E8.1]."""

    def act(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(OutputEvent(output={"point": Point(event.input), "other": range(3)}))

    assert LocalRunner(_agent(act)).run([("ada", 1)]).values == [{"point": Point(1), "other": range(3)}]


def test_the_event_log_is_a_list() -> None:
    """Whatever place the option names; without it the list is empty [E7.2, E8.1]."""
    agent = _agent(_tripling)
    logged = LocalRunner(agent, options={"event-log": "slf4j", "log-keys": True}).run([("ada", 2)])
    plain = LocalRunner(agent).run([("ada", 2)])

    calls = [event for event in logged.events if event["what"] == "call"]
    assert [(event["status"], event["duration_ms"]) for event in calls if "duration_ms" in event] == [("ok", 90_000)]
    assert {(event["key"], event["operator"], event["task_attempt"]) for event in logged.events} == {
        ("'ada'", "agent-sample", 0)
    }
    assert (plain.events, plain.values) == ([], logged.values)


async def _tripling(event: InputEvent, ctx: RunnerContext) -> None:
    """Wait in a call."""
    await ctx.durable_execute_async(wait, 90)
    ctx.send_event(OutputEvent(output=3 * event.input))
