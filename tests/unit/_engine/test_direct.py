"""Inputs that are handled without a run: nothing may show that they were."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from flink_agents_subagent._engine.direct import direct_action
from flink_agents_subagent._engine.effects import Effect, Emit, FailTask, InputFinished, StartCall
from flink_agents_subagent._engine.encoding import key_bytes
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import ActionError, ContextMisuseError, NotExpressibleError
from flink_agents_subagent.events import Event, InputEvent, OutputEvent
from tests.unit._engine.host import Host, agent_of, on

KEYS = ("a", "b")


class Forwarded(Event):
    """What an action hands to another."""

    value: Any


def double(value: int) -> int:
    """A durable function."""
    return 2 * value


def emits(event: InputEvent, ctx: RunnerContext) -> None:
    """Nothing but outputs."""
    ctx.send_event(OutputEvent(output=event.input))
    ctx.send_event(OutputEvent(output=[event.input]))


def emits_nothing(event: InputEvent, ctx: RunnerContext) -> None:
    """Nothing at all."""


def remembers(event: InputEvent, ctx: RunnerContext) -> None:
    """An output, memory of both kinds, an output."""
    ctx.send_event(OutputEvent(output="before"))
    memory = ctx.short_term_memory
    memory.set("seen", memory.get("seen", 0) + event.input)
    ctx.sensory_memory.set("passing", 1)
    ctx.send_event(OutputEvent(output=memory.get("seen")))


def calls(event: InputEvent, ctx: RunnerContext) -> None:
    """An output and a durable call."""
    ctx.send_event(OutputEvent(output="before"))
    ctx.send_event(OutputEvent(output=ctx.durable_execute(double, event.input)))


def asks_for_ids(event: InputEvent, ctx: RunnerContext) -> None:
    """Whatever is derived from the identity of the execution, and the time."""
    ctx.send_event(
        OutputEvent(output=[str(ctx.uuid4()), ctx.random().random(), ctx.now().timestamp(), str(ctx.uuid4())])
    )


def looks_around(event: InputEvent, ctx: RunnerContext) -> None:
    """What a context tells."""
    told = [ctx.key, ctx.timestamp, ctx.action_name, ctx.agent_name, dict(ctx.config), ctx.patched("change")]
    ctx.send_event(OutputEvent(output=told))


def forwards(event: InputEvent, ctx: RunnerContext) -> None:
    """An output, an event, an output."""
    ctx.send_event(OutputEvent(output="before"))
    ctx.send_event(Forwarded(value=event.input))
    ctx.send_event(OutputEvent(output="after"))


@on(Forwarded)
async def waits(event: Forwarded, ctx: RunnerContext) -> None:
    """Handle the event with a call that does not return by itself."""
    ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(double, event.value)))


def raises(event: InputEvent, ctx: RunnerContext) -> None:
    """An output, then a failure."""
    ctx.send_event(OutputEvent(output="before"))
    raise ValueError("not today")


def raises_late(event: InputEvent, ctx: RunnerContext) -> None:
    """Memory, an event and a call, then a failure."""
    ctx.short_term_memory.set("lost", 1)
    ctx.send_event(Forwarded(value=1))
    ctx.durable_execute(double, 1)
    raise ValueError("not today")


def awaits_nothing(event: InputEvent, ctx: RunnerContext) -> Any:
    """Hand back what somebody would have to await."""

    async def forgotten() -> None:
        """Never run."""

    return forgotten()


def sends_what_is_no_event(event: InputEvent, ctx: RunnerContext) -> None:
    """Use the context wrongly and go on."""
    for wrong in (lambda: ctx.send_event(event.input), lambda: ctx.durable_execute_async(double, 1)):
        try:
            wrong()
        except (TypeError, ContextMisuseError) as error:
            ctx.send_event(OutputEvent(output=str(error)))


ACTIONS = (
    emits,
    emits_nothing,
    remembers,
    calls,
    asks_for_ids,
    looks_around,
    forwards,
    raises,
    raises_late,
    awaits_nothing,
    sends_what_is_no_event,
)


@on(InputEvent, lambda event: False)
def never(event: InputEvent, ctx: RunnerContext) -> None:
    """A second route that takes no input, so that every input has a run."""


def _comparable(effect: Effect) -> object:
    """Return an effect without what is never equal."""
    if isinstance(effect, FailTask):
        return repr(effect)
    return effect._replace(function=double) if isinstance(effect, StartCall) else effect


def seen(host: Host) -> tuple[Any, ...]:
    """Return all that a host saw of its engine."""
    effects = [_comparable(effect) for effect in host.effects]
    cause = None if host.failure is None else repr(host.failure.__cause__)
    counted = [metric for metric in host.metrics if metric.metric != "mailbox_blocked_ms"]
    return effects, host.disk, host.commits, str(host.failure), cause, counted


def played(*functions: Any, **settings: Any) -> tuple[Any, ...]:
    """Bring inputs of two keys, several of each, with a snapshot amid them; return all that was seen."""
    host = Host(agent_of(*functions), **settings)
    host.start()
    entries = []
    for number in range(6):
        host.now_ms += 10
        host.input(number, key=KEYS[number % 2], timestamp=number)
        if number == 3 and host.failure is None:
            entries.append(dict(host.snapshot().entries))
    host.run()
    if host.failure is None:
        entries.append(dict(host.snapshot().entries))
    host.engine.close()
    return *seen(host), entries


@pytest.mark.parametrize("on_action_error", ["fail", "dead-letter"])
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_nothing_shows_whether_an_input_had_a_run(action: Any, on_action_error: str) -> None:
    """Effects, state, records, metrics, checkpoint entries and errors are the same with and without the shortcut [E1.2, E1.8, E4.1, E6.2]."""
    assert direct_action(agent_of(action, waits).routes) is not None
    assert direct_action(agent_of(action, never, waits).routes) is None

    with_runs = played(action, never, waits, on_action_error=on_action_error)
    assert played(action, waits, on_action_error=on_action_error) == with_runs


@pytest.mark.parametrize("action", [emits, calls, asks_for_ids, forwards], ids=lambda action: action.__name__)
@pytest.mark.parametrize("is_direct_again", [True, False])
def test_a_restored_engine_goes_on_alike(action: Any, is_direct_again: bool) -> None:
    """What either way left in checkpoint and tail is restored by both, inputs that come back included [E4.4, E4.5, E1.9]."""
    afterwards = []
    for was_direct in (True, False):
        functions = [action, waits]
        host = Host(agent_of(*functions, *([] if was_direct else [never])))
        host.start()
        host.input(1, timestamp=5)
        disk, recorded = host.snapshot(), len(host.disk.log)
        host.input(2, timestamp=6)
        disk.log = host.disk.log[recorded:]
        again = Host(agent_of(*functions, *([] if is_direct_again else [never])), disk, now_ms=2_000_000)
        again.start()
        again.input(2, timestamp=6)
        again.run()
        again.snapshot()
        afterwards.append(seen(again))

    assert afterwards[0] == afterwards[1]


def test_only_a_single_unconditional_def_route_is_direct() -> None:
    """Conditions, several routes and async actions have runs [E1.2]."""

    @on(InputEvent, lambda event: event.input > 0)
    def sometimes(event: InputEvent, ctx: RunnerContext) -> None:
        """Has a condition."""

    @on(InputEvent)
    async def suspends(event: InputEvent, ctx: RunnerContext) -> None:
        """May wait."""

    assert direct_action(agent_of(emits, waits).routes) is not None
    for functions in ((sometimes,), (suspends,), (emits, remembers), (waits,)):
        assert direct_action(agent_of(*functions).routes) is None


def test_a_context_is_refused_after_its_action_though_another_one_runs() -> None:
    """Each input has a context of its own, and an earlier one is never mistaken for the present one [E3.12, E2.7]."""
    kept: list[RunnerContext] = []
    refusals: list[str] = []

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        """Use the contexts of all inputs before."""
        for earlier in kept:
            with pytest.raises(ContextMisuseError) as refused:
                earlier.send_event(OutputEvent(output="late"))
            refusals.append(str(refused.value))
            with pytest.raises(ContextMisuseError):
                earlier.short_term_memory.set("late", 1)
        kept.append(ctx)
        ctx.send_event(OutputEvent(output=event.input))

    host = Host(agent_of(action))
    host.start()
    host.input(1)
    host.input(2)
    with pytest.raises(ContextMisuseError, match="after the action had ended"):
        kept[1].durable_execute(double, 1)

    assert host.outputs == [1, 2]
    assert host.disk.memory == {}
    assert refusals == [
        "ctx.send_event of action 'action' was used after the action had ended; nothing is sent or recorded any more"
    ]


def test_a_context_is_refused_in_another_thread_and_in_a_durable_function() -> None:
    """Only the action's own code may use it, before it has a run and after [E3.12]."""
    refusals: list[str] = []

    def use(ctx: RunnerContext) -> None:
        """Try to send."""
        with pytest.raises(ContextMisuseError) as refused:
            ctx.send_event(OutputEvent(output="stray"))
        refusals.append(str(refused.value))

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        """Give the context away."""
        thread = threading.Thread(target=use, args=(ctx,))
        thread.start()
        thread.join()
        ctx.durable_execute(use, ctx, durable_id="use")

    host = Host(agent_of(action))
    host.start()
    host.input(1)

    assert host.failure is None
    assert host.outputs == []
    assert len(refusals) == 2
    assert all("outside the action, from a durable function or another thread" in text for text in refusals)


def test_an_output_that_cannot_be_encoded_is_none() -> None:
    """The action gets the error and may go on; nothing is counted for it [E1.9]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        """Send an output that the format refuses, then one that it takes, then need a run."""
        with pytest.raises(NotExpressibleError):
            ctx.send_event(OutputEvent(output="refused"))
        ctx.send_event(OutputEvent(output="taken"))
        ctx.send_event(Forwarded(value=1))

    def encode(output: Any) -> Any:
        if output == "refused":
            raise NotExpressibleError("the format cannot hold it", "$")
        return output

    host = Host(agent_of(action, waits))
    ports = host.engine._core.ports
    host.engine._core.ports = ports._replace(encode_output=encode)
    host.start()
    host.input(1)
    host.snapshot()

    assert host.outputs == ["taken"]
    again = Host(agent_of(action, waits), host.disk.checkpointed())
    again.engine._core.ports = again.engine._core.ports._replace(encode_output=encode)
    again.start()
    assert again.outputs == []


def test_an_engine_that_has_failed_takes_no_more_inputs() -> None:
    """The failure carries the exception of the action; what was sent before it is performed [E1.8]."""
    host = Host(agent_of(raises))
    host.start()
    host.input(1)
    host.input(2)

    assert isinstance(host.failure, ActionError)
    assert [type(effect) for effect in host.effects] == [Emit, FailTask]


def test_an_input_leaves_nothing_behind() -> None:
    """Context, event and value go when the action has ended, also when it failed, without the garbage collector [E1.8]."""
    left: list[weakref.ref[Any]] = []

    class Probe:
        """Can be watched."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        """Leave a trace on the context's side, and fail for some inputs."""
        probe = Probe()
        left.append(weakref.ref(probe))
        event.input["probe"] = probe
        if event.input["fails"]:
            raise ValueError(event.input["fails"])

    host = Host(agent_of(action), on_action_error="dead-letter")
    host.start()
    gc.disable()
    try:
        host.input({"fails": ""})
        assert left[0]() is None
    finally:
        gc.enable()
    host.input({"fails": "at once"})
    host.effects.clear()
    gc.collect()

    assert [probe() for probe in left] == [None, None]
    assert [host._tickets, host.failure] == [2, None]


def test_an_input_that_arrives_while_its_key_has_a_run_waits_for_it() -> None:
    """The shortcut is for idle keys only [E1.1]."""

    def action(event: InputEvent, ctx: RunnerContext) -> None:
        """Park the first run of the key."""
        ctx.send_event(Forwarded(value=event.input) if event.input == 1 else OutputEvent(output=event.input))

    host = Host(agent_of(action, waits))
    host.start()
    host.input(1)
    host.input(2)
    assert host.outputs == []
    host.run()

    assert host.outputs == [2, 2]
    assert [effect.key for effect in host.of(InputFinished)] == [key_bytes("k")] * 2
