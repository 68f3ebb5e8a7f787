"""A job script's plan, read in another process: everything that the script defines came along."""

from __future__ import annotations

import asyncio
import base64
import functools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from flink_agents_subagent import InputEvent, ResourceType, SubagentRequest, SubagentResult
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec, key_value
from flink_agents_subagent._flink.formats import decoder
from flink_agents_subagent._flink.selector import load_selector
from flink_agents_subagent._plan import CompiledAgent, load_plan

_ROOT = Path(__file__).parents[3]


class Script(NamedTuple):
    """What the script printed."""

    agent: CompiledAgent
    selector: bytes
    value: bytes


@functools.cache
def run() -> Script:
    """Run the script as `__main__` of another process."""
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, str(Path(__file__).with_name("script.py"))],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    plan, selector, value = (base64.b64decode(line) for line in done.stdout.split())
    return Script(load_plan(plan), selector, value)


def read() -> Any:
    """Return the script's input, decoded with its types."""
    return decoder("pickle", run().agent.types)(run().value)


def context() -> Any:
    """Return a context that keeps the events."""
    sent: list[Any] = []
    return SimpleNamespace(sent=sent, send_event=sent.append)


def test_classes_of_the_script_are_one_class_everywhere() -> None:
    """An event type is the same class as a route, in an action's globals and in the list of types [P9]."""
    agent = run().agent
    ctx = context()
    receive, finish = agent.actions["receive"], agent.actions["finish"]

    receive.function(InputEvent(input=read()), ctx)
    asyncio.run(finish.function(ctx.sent[0], ctx))

    assert type(ctx.sent[0]) is agent.types["__main__:Reviewed"]
    assert [InputEvent, type(ctx.sent[0])] == [event for event in agent.routes if "[" not in event.__name__]
    assert ctx.sent[1].output == "seen ann!"


def test_actions_keep_kind_condition_and_config() -> None:
    """What the decorator said is in the plan [R1]."""
    agent = run().agent
    route = agent.routes[InputEvent][0]

    assert (agent.name, agent.actions["receive"].is_async, agent.actions["finish"].is_async) == ("script", False, True)
    assert agent.actions["finish"].config == {"level": 3}
    assert route.condition is not None
    assert route.condition(InputEvent(input=read()))
    assert not route.condition(InputEvent(input=read().model_copy(update={"user": "nobody"})))


@pytest.mark.parametrize("name", ["built", "pickled"])
def test_resources_are_built_or_unpickled_and_named(name: str) -> None:
    """A descriptor is built where the plan is read, an instance comes as it was; both know their name [R1]."""
    setup = run().agent.resources[name, ResourceType.AGENT]

    answer = asyncio.run(setup.call(SubagentRequest(read(), "s", "c")))

    assert (setup.name, setup.description) == (name, "reviews")
    assert setup.result_type is type(answer) is run().agent.types["__main__:Verdict"]
    assert answer.text == f"{name} seen ann"


def test_inputs_that_no_action_mentions_have_their_type() -> None:
    """Data types of the script travel even when only the stream holds them [P9]."""
    types = run().agent.types

    value = read()

    assert type(value) is types["__main__:Order"]
    assert value.level is types["__main__:Level"].HIGH
    assert {"__main__:Pair", "__main__:RefusedError"} <= types.keys()


def test_values_of_the_script_survive_the_journal() -> None:
    """The journal's codec rebuilds by-value types, exceptions included, as themselves [E3.5, P9]."""
    types = run().agent.types
    codec = ValueCodec(TypeRegistry(types), allow_pickle=False)
    verdict = types["__main__:Verdict"]("t", read())

    again = codec.decode(codec.encode(verdict))

    assert again == verdict
    assert type(again) is type(verdict)


def test_annotations_that_are_texts_are_resolved() -> None:
    """A result becomes a dataclass or named tuple of the script, whose annotations name other classes of it [V3, P9]."""
    types = run().agent.types
    trail = types["__main__:Trail"]
    tree = {"verdicts": [{"verdict": {"text": "t", "order": {"user": "u"}}}], "by_user": {}}

    found = SubagentResult.ok(tree).get_result(trail)

    assert type(found) is trail
    assert type(found.verdicts[0]) is types["__main__:Later"]
    assert type(found.verdicts[0].verdict.order) is types["__main__:Order"]


def test_generic_events_are_one_class_everywhere() -> None:
    """An event with type arguments, made in an action, is the class that routes it [P9, E1.2]."""
    agent = run().agent
    ctx = context()
    paged = next(event for event in agent.routes if event.__name__ == "Paged[int]")

    agent.actions["turn"].function(SimpleNamespace(page=SimpleNamespace(items=[5])), ctx)

    assert type(ctx.sent[0]) is paged is agent.types["__main__:Paged[int]"]
    assert ctx.sent[0].page.items == [5, 1]


def test_the_key_selector_travels() -> None:
    """The selector meets the script's own input type in the key operator [P7, P9]."""
    assert key_value(load_selector(run().selector)(run().value)) == "ann"
