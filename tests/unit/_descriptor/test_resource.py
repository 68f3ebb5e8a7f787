"""Resources and sub-agents of a file: descriptors, arguments, names."""

from __future__ import annotations

import dataclasses
import importlib
from datetime import timedelta
from pathlib import Path

import pytest

from flink_agents_subagent import JavaSubagent, ResourceDescriptor, ResourceType, RetryPolicy
from flink_agents_subagent._descriptor.field import RetryEntry
from flink_agents_subagent._descriptor.model import SubagentEntry
from flink_agents_subagent.subagents.asynchronous import AsyncSubagentArguments
from flink_agents_subagent.subagents.deferred import DeferredSubagentArguments
from flink_agents_subagent.testing import LocalRunner, with_stand_ins
from tests.unit._descriptor.files import agent_of, problems_of

wares = importlib.import_module("wares")

_AGENT = "agents:\n  - name: desk\n    actions: [{function: wares:take, events: [InputEvent]}]\n"


def test_resources_are_descriptors_of_the_class(tmp_path: Path) -> None:
    """Class, arguments and types reach the constructor; nothing is built yet [R1]."""
    agent = agent_of(
        tmp_path,
        _AGENT
        + "    resources: [{name: rates, type: object, class: wares:Rates, args: {base: EUR}}]\n"
        + "    subagents: [{name: rates, class: wares:Reviewer, args: {factor: 3, timeout: 1.5}, result_type: builtins:int}]\n",
    )

    rates = agent.resources["rates", ResourceType.OBJECT]
    reviewer = agent.resources["rates", ResourceType.AGENT]
    assert isinstance(rates, ResourceDescriptor) and isinstance(reviewer, ResourceDescriptor)
    assert (rates.clazz, rates.arguments) == (wares.Rates, {"base": "EUR"})
    assert (reviewer.clazz, reviewer.arguments) == (wares.Reviewer, {"factor": 3, "timeout": 1.5, "result_type": int})


def test_what_every_sub_agent_has_stands_beside_its_arguments(tmp_path: Path) -> None:
    """Limits, times, retries and types reach the constructor as they are written, and it takes them [R1]."""
    entry = """{name: a, class: wares:Simple, description: helps, input_schema: {type: integer}, result_type: builtins:int,
        timeout: 30, max_concurrency: 8, rate_limit: 2.5, max_calls_per_run: 3,
        retry: {max_attempts: 5, initial: 0.5, factor: 1.5, max_interval: 60, retry_on: [builtins:OSError]}}"""

    descriptor = agent_of(tmp_path, _AGENT + f"    subagents: [{entry}]\n").resources["a", ResourceType.AGENT]

    assert isinstance(descriptor, ResourceDescriptor)
    assert descriptor.arguments == {
        "description": "helps",
        "input_schema": {"type": "integer"},
        "result_type": int,
        "timeout": 30,
        "max_concurrency": 8,
        "rate_limit": 2.5,
        "max_calls_per_run": 3,
        "retry": RetryPolicy(5, timedelta(seconds=0.5), 1.5, timedelta(minutes=1), (OSError,)),
    }
    assert wares.Simple(**descriptor.arguments).retry.max_attempts == 5


def test_a_sub_agent_in_java_has_the_arguments_of_every_sub_agent(tmp_path: Path) -> None:
    """Its own go to the Java class; it is described, so that agents of one file do not share an instance [R1, B2]."""
    entry = "{name: a, java: com.acme.Pricer, args: {currency: EUR}, timeout: 30, result_type: wares:Order, retry: {}}"

    descriptor = agent_of(tmp_path, _AGENT + f"    subagents: [{entry}]\n").resources["a", ResourceType.AGENT]

    assert isinstance(descriptor, ResourceDescriptor)
    assert (descriptor.clazz, descriptor.arguments) == (
        JavaSubagent,
        {
            "class_name": "com.acme.Pricer",
            "args": {"currency": "EUR"},
            "timeout": 30,
            "result_type": wares.Order,
            "retry": RetryPolicy(),
        },
    )


def test_a_sub_agent_in_java_runs_with_a_stand_in(tmp_path: Path) -> None:
    """As one that Python registers [R1, B2]."""
    text = """\
        agents:
          - name: desk
            actions:
              - {function: wares:take, events: [InputEvent]}
              - {function: wares:review, events: ["wares:Order"]}
            subagents: [{name: reviewer, java: com.acme.Reviewer}]
    """
    agent = with_stand_ins(agent_of(tmp_path, text), {"reviewer": wares.Reviewer(factor=3)})

    assert LocalRunner(agent).run([("ada", 5)]).values == [{"review": 15}]


def test_an_empty_retry_is_the_usual_one(tmp_path: Path) -> None:
    """What is left out is that of RetryPolicy [R1]."""
    text = _AGENT + "    subagents: [{name: a, class: wares:Simple, retry: {}}]\n"
    descriptor = agent_of(tmp_path, text).resources["a", ResourceType.AGENT]

    assert isinstance(descriptor, ResourceDescriptor)
    assert descriptor.arguments == {"retry": RetryPolicy()}


@pytest.mark.parametrize(
    ("more", "place", "problem"),
    [
        ("timeout: 30 s", "30 s", "'timeout' is '30 s'; give a number"),
        ("timeout: 0", "0", "'timeout' is 0; give a number above zero"),
        ("timeout: .inf", ".inf", "'timeout' is inf; give a finite number"),
        ("timeout: true", "true", "'timeout' is True; give a number"),
        ("max_concurrency: 1.5", "1.5", "'max_concurrency' is 1.5; give a whole number"),
        ("max_concurrency: 0", "0", "'max_concurrency' is 0; give a number of at least 1"),
        ("description: ''", "''", "'description' is ''; give a text that is not blank"),
        ("input_schema: text", "text", "'input_schema' is 'text'; give a mapping of keys and values"),
        ("retry: 3", "3", "'retry' is 3; give a mapping of keys and values"),
        ("retry: {attempts: 3}", "attempts", "a retry policy has no key 'attempts'; did you mean 'max_attempts'?"),
        ("retry: {max_attempts: 0}", "0", "'max_attempts' is 0; give a number of at least 1"),
        ("retry: {retry_on: [builtins:int]}", "builtins", "builtins:int is no class of exceptions; give one, as in"),
        (
            "retry: {retry_on: [builtins:OSErr]}",
            "builtins",
            "the module 'builtins' has no 'OSErr'; did you mean 'OSError'?",
        ),
        ("timout: 3", "timout", "a sub-agent has no key 'timout'; did you mean 'timeout'?"),
        (
            "status_poll_factor: 2",
            "status_",
            "Simple, the class of sub-agent 'a', has no argument 'status_poll_factor'; it",
        ),
        (
            "args: {timout: 3}",
            "timout",
            "Simple, the class of sub-agent 'a', has no argument 'timout'; did you mean 'timeout'?",
        ),
        ("timeout: 3, args: {timeout: 4}", "timeout: 4", "'timeout' is given twice; leave it out of 'args'"),
    ],
)
def test_what_no_sub_agent_has_is_refused_at_its_place(tmp_path: Path, more: str, place: str, problem: str) -> None:
    """Also where the class lists what it takes by the arguments of its base alone [R2]."""
    text = _AGENT + f"    subagents: [{{name: a, class: wares:Simple, {more}}}]\n"

    (found,) = problems_of(tmp_path, text)

    assert found.startswith(f"4:{text.splitlines()[3].rindex(place) + 1}: {problem}")


def test_the_file_has_every_argument_that_sub_agents_have() -> None:
    """The keys are those of both base setups, and those of a retry policy [R1]."""
    own = {"name", "clazz", "java", "agent", "args"}
    arguments = DeferredSubagentArguments.__optional_keys__ | AsyncSubagentArguments.__optional_keys__

    assert SubagentEntry.model_fields.keys() - own == arguments
    assert RetryEntry.model_fields.keys() == {field.name for field in dataclasses.fields(RetryPolicy)}


def test_resources_of_the_file_belong_to_each_agent(tmp_path: Path) -> None:
    """They come before the agent's own, as those of an environment do [R1]."""
    agent = agent_of(
        tmp_path,
        "subagents: [{name: reviewer, class: wares:Reviewer, args: {factor: 1}}]\n"
        + _AGENT
        + "    resources: [{name: rates, type: object, class: wares:Rates, args: {base: EUR}}]\n",
    )

    assert list(agent.resources) == [("reviewer", ResourceType.AGENT), ("rates", ResourceType.OBJECT)]


@pytest.mark.parametrize(
    ("entry", "place", "problem"),
    [
        ("{name: a, class: wares:Revewer}", "class", "the module 'wares' has no 'Revewer'; did you mean 'Reviewer'?"),
        ("{name: a, class: wares:take}", "class", "wares:take is <function take at "),
        (
            "{name: a, class: wares:Rates, args: {base: x}}",
            "class",
            "sub-agent 'a' is described as a Rates, which is no SubagentSetup",
        ),
        ("{name: a, class: wares:Unfinished}", "class", "resource 'a' cannot be built: Unfinished does not implement"),
        (
            "{name: a, class: wares:Reviewer}",
            "entry",
            "Reviewer, the class of sub-agent 'a', needs the argument 'factor'; add it",
        ),
        (
            "{name: a, class: wares:Reviewer, args: {other: 1}}",
            "args",
            "Reviewer, the class of sub-agent 'a', needs the argument 'factor'; add it to 'args'",
        ),
        (
            "{name: a, class: wares:Reviewer, args: {factor: 1, description: ' '}}",
            "class",
            "sub-agent 'a' has the description ' '",
        ),
        (
            "{name: a, class: wares:Reviewer, args: {factor: 1}, result_type: wares:Ordr}",
            "result_type",
            "the module 'wares' has no",
        ),
        (
            "{name: a, class: wares:Reviewer, args: {factor: 1}, input_type: wares:take}",
            "input_type",
            "wares:take is <function take",
        ),
        (
            "{name: a, java: com.acme.Pricer, args: {ratio: .nan}}",
            "args",
            "sub-agent 'a': ",
        ),
    ],
)
def test_what_is_no_sub_agent_is_refused_at_its_place(tmp_path: Path, entry: str, place: str, problem: str) -> None:
    """The message names the class, what it lacks, and the remedy [R2]."""
    text = _AGENT + f"    subagents: [{entry}]\n"
    (found,) = problems_of(tmp_path, text)

    line = text.splitlines()[3]
    key = "{name" if place == "entry" else f"{place}: "
    column = line.index(key) + 1 + (0 if place in ("entry", "java") else len(key))
    assert found.startswith(f"4:{column}: {problem}")


def test_an_argument_that_the_class_does_not_take_is_refused(tmp_path: Path) -> None:
    """The nearest of those that it takes is named, at the place of the key [R2]."""
    text = _AGENT + "    resources: [{name: r, type: object, class: wares:Rates, args: {base: EUR, digts: 3, a: 1}}]\n"
    column = text.splitlines()[3].index("digts") + 1

    assert problems_of(tmp_path, text) == [
        f"4:{column}: Rates, the class of resource 'r', has no argument 'digts'; did you mean 'digits'?",
        f"4:{column + 10}: Rates, the class of resource 'r', has no argument 'a'; it takes base, digits",
    ]


def test_a_misspelt_argument_is_told_once(tmp_path: Path) -> None:
    """A class that takes any argument lacks one that is needed: the nearest of those given is meant [R2]."""
    text = _AGENT + "    subagents: [{name: a, class: wares:Reviewer, args: {description: d, factr: 1, other: 2}}]\n"
    column = text.splitlines()[3].index("factr") + 1

    assert problems_of(tmp_path, text) == [
        f"4:{column}: Reviewer, the class of sub-agent 'a', has no argument 'factr'; did you mean 'factor'?"
    ]


def test_a_type_that_a_class_does_not_take_is_refused(tmp_path: Path) -> None:
    """The place is that of the key of the entry [R2]."""
    text = _AGENT + "    subagents: [{name: a, class: wares:Plain, result_type: builtins:int}]\n"
    column = text.splitlines()[3].index("result_type") + 1

    assert problems_of(tmp_path, text) == [
        f"4:{column}: Plain, the class of sub-agent 'a', has no argument 'result_type'; it takes none"
    ]


def test_a_type_in_both_places_is_refused(tmp_path: Path) -> None:
    """A key of the entry is an argument of that name, so it cannot be given again [R2]."""
    entry = "{name: a, class: wares:Reviewer, result_type: builtins:int, args: {factor: 1, result_type: x}}"

    (found,) = problems_of(tmp_path, _AGENT + f"    subagents: [{entry}]\n")

    assert found.endswith("'result_type' is given twice; leave it out of 'args'")


@pytest.mark.parametrize("shared", ["subagents: [{name: a, class: wares:Reviewer, args: {factor: 1}}]\n", ""])
def test_names_are_unique_within_a_type(tmp_path: Path, shared: str) -> None:
    """Twice in an agent, or in the file and an agent of it, is refused with the line of the first [R2]."""
    several = ["{name: a, class: wares:Reviewer, args: {factor: 1}}"] * (1 if shared else 2)

    (found,) = problems_of(tmp_path, shared + _AGENT + f"    subagents: [{', '.join(several)}]\n")

    line = 1 if shared else 4
    assert f"there is a resource 'a' of type 'agent' already, in line {line}; give one of them another name" in found
