"""What docs/agents.md says, beyond its examples."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from flink_agents_subagent import (
    ActionError,
    Agent,
    ContextMisuseError,
    Event,
    InputEvent,
    OutputEvent,
    Resource,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SimulationError,
)
from flink_agents_subagent.testing import LocalRunner, ManualClock, simulate_crashes
from tests.docs.pages import page

Action = Callable[[Any, RunnerContext], Any]


def agent_of(function: Action, name: str = "sample") -> Agent:
    """Return an agent whose only action is this function."""
    return Agent(name).add_action("act", InputEvent, function)


def values_of(function: Action, *inputs: Any) -> list[Any]:
    """Return what the action sends for inputs of one key."""
    return LocalRunner(agent_of(function)).run([("ada", value) for value in inputs]).values


def send(ctx: RunnerContext, value: object) -> None:
    """Send an output."""
    ctx.send_event(OutputEvent(output=value))


class Base(Event):
    text: str


class Derived(Base):
    pass


def test_the_class_of_an_event_must_match_exactly() -> None:
    """An action that listens to a class is not triggered by an event of a subclass [E1.2]."""

    def start(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Base(text="base"))
        ctx.send_event(Derived(text="derived"))

    agent = agent_of(start).add_action("hear", Base, lambda event, ctx: send(ctx, event.text))

    assert LocalRunner(agent).run([("ada", 1)]).values == ["base"]


def test_events_are_routed_when_their_action_waits_and_outputs_leave_at_once() -> None:
    """An output overtakes the events that were sent before it; these start in their order [E1.2]."""

    def start(event: InputEvent, ctx: RunnerContext) -> None:
        ctx.send_event(Base(text="first"))
        send(ctx, "output")
        ctx.send_event(Base(text="second"))

    agent = agent_of(start).add_action("hear", Base, lambda event, ctx: send(ctx, event.text))
    result = LocalRunner(agent).run([("ada", 1, 17)])

    assert result.values == ["output", "first", "second"]
    assert [output.timestamp for output in result.outputs] == [17, 17, 17]


def test_keys_do_not_wait_for_each_other() -> None:
    """Two runs of 90 s take 90 s with two keys, and 180 s with one [E1.1]."""
    seconds = []
    for keys in (("ada", "bob"), ("ada", "ada")):
        clock = ManualClock()
        LocalRunner(page("agents").Quotes(), clock=clock).run([(key, "lamp") for key in keys])
        seconds.append((clock.now() - ManualClock().now()).total_seconds())

    assert seconds == [90, 180]


def test_a_failed_run_leaves_no_writes() -> None:
    """Nothing of what a dead-lettered run wrote is kept, and what its key had stays [E6.3, E1.8]."""
    runner = LocalRunner(page("agents").Ledger(), options={"on-action-error": "dead-letter"})

    assert runner.run([("ada", 5)]).memory == runner.run([("ada", 0)]).memory
    assert runner.run([("bob", 0)]).memory == {"ada": {"last": {"amount": 5}, "history": [5]}}


def test_sensory_memory_ends_with_the_run() -> None:
    """Actions of one run share it, the next run finds it empty [E1.4, E6.1]."""

    def start(event: InputEvent, ctx: RunnerContext) -> None:
        send(ctx, ctx.sensory_memory.get("seen"))
        ctx.sensory_memory.set("seen", event.input)
        ctx.send_event(Base(text="read"))

    agent = agent_of(start).add_action("hear", Base, lambda event, ctx: send(ctx, ctx.sensory_memory.get("seen")))

    assert LocalRunner(agent).run([("ada", 1), ("ada", 2)]).values == [None, 1, None, 2]


_REFUSED: dict[str, Callable[[], Any]] = {
    "connections": lambda: asyncio.open_connection("localhost", 1),
    "servers": lambda: asyncio.start_server(print, "localhost", 1),
    "subprocesses": lambda: asyncio.create_subprocess_exec("true"),
    "to_thread": lambda: asyncio.to_thread(print),
    "run_in_executor": lambda: asyncio.get_running_loop().run_in_executor(None, print),
    "call_soon_threadsafe": lambda: asyncio.get_running_loop().call_soon_threadsafe(print),
    "signals": lambda: asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, print),
}


@pytest.mark.parametrize("what", _REFUSED)
def test_whatever_leaves_the_loop_is_refused(what: str) -> None:
    """The error names what to use instead [E2.4]."""

    async def leave(event: InputEvent, ctx: RunnerContext) -> None:
        with pytest.raises(ContextMisuseError, match=r"does not work inside an action.*ctx\.durable_execute_async"):
            await _REFUSED[what]()
        send(ctx, "refused")

    assert values_of(leave, 1) == ["refused"]


async def _wait(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


async def _numbers(ctx: RunnerContext) -> AsyncIterator[float]:
    for number in (1, 2):
        yield await ctx.durable_execute_async(_wait, number)


async def _everything(event: InputEvent, ctx: RunnerContext) -> None:
    """Use all of asyncio that the page lists."""
    lock, semaphore, ready, queue = asyncio.Lock(), asyncio.Semaphore(1), asyncio.Event(), asyncio.Queue[float]()
    condition = asyncio.Condition()

    async def produce(seconds: float) -> None:
        async with semaphore, lock:
            await queue.put(await ctx.durable_execute_async(_wait, seconds))
        async with condition:
            condition.notify_all()
        ready.set()

    tasks = [asyncio.create_task(produce(seconds)) for seconds in (3, 1, 2)]
    async with condition:
        await condition.wait()
    await asyncio.gather(*tasks)
    await asyncio.shield(ready.wait())
    found = [queue.get_nowait() for _ in range(queue.qsize())]
    try:
        await asyncio.wait_for(ctx.durable_execute_async(_wait, 100), timeout=5)
    except asyncio.TimeoutError:
        found.append(-1)
    done, _ = await asyncio.wait([asyncio.create_task(asyncio.sleep(9, 9)), asyncio.create_task(asyncio.sleep(8, 8))])
    found += [task.result() for task in done]
    found += [result async for result in ctx.as_completed([ctx.durable_execute_async(_wait, n) for n in (7, 6)])]
    found += [number async for number in _numbers(ctx)]
    send(ctx, found)


def test_asyncio_works_and_replays_the_same() -> None:
    """All that the page lists gives its ordinary results, also when the process dies anywhere [E2.1, E2.2]."""
    report = simulate_crashes(agent_of(_everything), [("ada", 1)], seeds=0)

    assert report.result.values == [[3, 1, 2, -1, 9, 8, 6, 7, 1, 2]]
    assert report.points > 50


def test_ids_and_chance_are_the_same_on_a_replay() -> None:
    """What `ctx` gives in place of clock, chance and ids does not change however often the process dies [E2.5, E2.3]."""

    async def draw(event: InputEvent, ctx: RunnerContext) -> None:
        before = (ctx.now(), ctx.uuid4(), ctx.random().random())
        await ctx.durable_execute_async(_wait, 1)
        send(ctx, (before, ctx.uuid4(), ctx.random().random()))

    simulate_crashes(agent_of(draw), [("ada", 1), ("bob", 1)])
    outputs = LocalRunner(agent_of(draw)).run([("ada", 1), ("ada", 1), ("bob", 1)]).values

    assert len({output[0][1] for output in outputs} | {output[1] for output in outputs}) == 6


def test_a_def_action_cannot_wait() -> None:
    """What would have to suspend says to declare the action async [E2.6]."""

    def impatient(event: InputEvent, ctx: RunnerContext) -> None:
        for attempt in (lambda: ctx.durable_execute_async(len, "x"), lambda: ctx.as_completed([])):
            with pytest.raises(ContextMisuseError, match="declare the action async def"):
                attempt()
        send(ctx, "refused twice")

    assert values_of(impatient, 1) == ["refused twice"]


def test_an_action_that_nothing_would_wake_is_ended() -> None:
    """Waiting without a call or a timer fails the action instead of holding its key for ever [E2.2]."""

    async def wait(event: InputEvent, ctx: RunnerContext) -> None:
        await asyncio.Event().wait()

    with pytest.raises(ActionError, match="no durable call is in flight and no timer is set"):
        values_of(wait, 1)


def test_what_a_leftover_task_may_still_do() -> None:
    """Its clean-up is refused to send, whether the action has returned or failed [E2.7]."""
    refusals: list[str] = []

    async def leave_behind(event: InputEvent, ctx: RunnerContext) -> None:
        async def linger() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                try:
                    send(ctx, f"bye {event.input}")
                except ContextMisuseError as error:
                    refusals.append(str(error))

        tasks.append(asyncio.create_task(linger()))
        await asyncio.sleep(1)
        if event.input == 2:
            raise ValueError

    tasks: list[asyncio.Task[None]] = []
    runner = LocalRunner(agent_of(leave_behind), options={"on-action-error": "dead-letter"})

    assert runner.run([("ada", 1), ("ada", 2)]).values == []
    assert len(refusals) == 2 and all("after the action had ended; nothing is sent" in text for text in refusals)


def test_a_durable_function_may_not_use_the_context() -> None:
    """It gets an error that says to pass arguments instead [E3.12]."""

    async def misuse(event: InputEvent, ctx: RunnerContext) -> None:
        await ctx.durable_execute_async(lambda: send(ctx, "from outside"))

    with pytest.raises(ActionError, match=r"outside the action.*give the function what it needs as arguments"):
        values_of(misuse, 1)


class _Loud(Resource):
    heard: list[str] = []  # noqa: RUF012 - shared on purpose

    def open(self) -> None:
        self.heard.append(f"open {self.name}")
        if self.name == "bad":
            raise OSError("locked")

    async def close(self) -> None:
        self.heard.append(f"close {self.name}")


def test_resources_close_in_reverse_also_after_a_failed_open() -> None:
    """Each is opened once and closed once [R3]."""
    _Loud.heard.clear()
    agent = agent_of(lambda event, ctx: None)
    for name in ("one", "two", "bad", "never"):
        agent.add_resource(name, ResourceType.OBJECT, ResourceDescriptor(clazz=_Loud))

    with pytest.raises(Exception, match=r"resource 'bad' \(object\) cannot be opened: OSError: locked"):
        LocalRunner(agent).run([("ada", 1)])

    assert _Loud.heard == ["open one", "open two", "open bad", "close bad", "close two", "close one"]


class Live(Event):
    thing: object


def test_events_stay_objects_until_a_checkpoint_needs_them() -> None:
    """A live object travels between actions; a checkpoint of a run that waits names the event that it cannot keep [E1.3]."""
    thing = object()
    received: list[object] = []

    async def hear(event: Live, ctx: RunnerContext) -> None:
        received.append(event.thing)
        await ctx.durable_execute_async(_wait, 1)

    agent = agent_of(lambda event, ctx: ctx.send_event(Live(thing=thing))).add_action("hear", Live, hear)
    LocalRunner(agent).run([("ada", 1)])

    assert received == [thing]
    with pytest.raises(SimulationError, match="an event of type Live has to be kept in a checkpoint"):
        simulate_crashes(agent, [("ada", 1)])
