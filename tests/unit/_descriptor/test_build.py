"""Agents and their actions: what the entries of a file make, and what is refused."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from flink_agents_subagent import InputEvent
from tests.unit._descriptor.files import agent_of, problems_of

wares = importlib.import_module("wares")


def actions(*entries: str) -> str:
    """Return a file with an agent of these actions, the first of them in line 4."""
    return "agents:\n  - name: desk\n    actions:\n" + "".join(f"      - {entry}\n" for entry in entries)


TAKE = "{function: wares:take, events: [InputEvent]}"


def test_an_action_is_what_its_entry_says(tmp_path: Path) -> None:
    """Function, events, condition, config and name are those of the file [R1]."""
    entry = "{function: wares:review, name: check, events: [wares:Order, InputEvent], where: wares:is_large, config: {name: 1}}"

    (action,) = agent_of(tmp_path, actions(entry)).actions

    assert (action.name, action.function, action.is_async) == ("check", wares.review, True)
    assert (action.events, action.where) == ((wares.Order, InputEvent), wares.is_large)
    assert action.config == {"name": 1}


def test_an_action_has_the_name_of_its_function(tmp_path: Path) -> None:
    """Without a name it is that of the function, as with the decorator [R1]."""
    agent = agent_of(tmp_path, actions(TAKE, "{function: wares:Desk.anywhere}"))

    assert [action.name for action in agent.actions] == ["take", "anywhere"]


def test_a_decorated_function_brings_its_trigger(tmp_path: Path) -> None:
    """Events and condition are those of @action; the file's config goes before the decorator's [R1]."""
    action = agent_of(
        tmp_path, actions(TAKE, "{function: wares:decorated_review, config: {limit: 2, more: 3}}")
    ).actions[1]

    assert (action.events, action.where) == ((wares.Order,), wares.is_large)
    assert action.config == {"tone": "kind", "limit": 2, "more": 3}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{function: wares:tke, events: [InputEvent]}", "the module 'wares' has no 'tke'; did you mean 'take'"),
        ("{function: wares:Desk.here, events: [InputEvent]}", "wares:Desk has no 'here'; "),
        ("{function: wares:NOTHING, events: [InputEvent]}", "wares:NOTHING is None; name something else"),
        (
            "{function: wares:ANSWER, events: [InputEvent]}",
            "action 'ANSWER' is 42, which cannot be called; give a function",
        ),
        ("{function: wares:one_argument, events: [InputEvent]}", "action 'one_argument' has the signature (event"),
        (
            "{function: wares:Desk.at_desk}",
            "wares:Desk.at_desk is a method of Desk, which needs an instance; name a function or",
        ),
        (
            "{function: wares:review}",
            "wares:review is no action: it is not decorated with @action, and the file names no events; add 'events', as in",
        ),
        (
            "{function: wares:decorated_review, events: [InputEvent]}",
            "wares:decorated_review has its trigger from @action; leave out 'events', or the decorator",
        ),
        ("{function: wares:review, events: [wares:Oder]}", "the module 'wares' has no 'Oder'; did you mean 'Order'?"),
        ("{function: wares:review, events: [wares:Rates]}", "action 'review' listens to <class"),
        (
            "{function: wares:review, events: ['flink_agents_subagent:OutputEvent']}",
            "action 'review' listens to OutputEvent, which leaves the operator and triggers nothing",
        ),
        (
            "{function: wares:review, events: [InputEvent], where: wares:ANSWER}",
            "the condition of action 'review' is 42; give a",
        ),
        (
            "{function: wares:review, events: [InputEvent], config: {x: .nan}}",
            "the config of action 'review' holds what JSON",
        ),
        (
            "{name: take, function: wares:review, events: [wares:Order]}",
            "there is an action 'take' already, in line 4; give this",
        ),
        ("{function: wares:review, events: [5, wares:Oder]}", "an element of 'events' is 5"),
    ],
)
def test_what_is_no_action_is_refused_at_its_place(tmp_path: Path, entry: str, problem: str) -> None:
    """The message names what was found, and the remedy [R2]."""
    found = problems_of(tmp_path, actions(TAKE, entry))

    assert found[0].startswith("5:")
    assert found[0].split(": ", 1)[1].startswith(problem), found


def test_an_agent_that_no_input_reaches_is_refused(tmp_path: Path) -> None:
    """The rule of every agent, at the place of this one [R2]."""
    (found,) = problems_of(tmp_path, actions("{function: wares:review, events: [wares:Order]}"))

    assert found.startswith("2:5: agent 'desk' has no action for InputEvent, so that no input would ever be handled")


def test_two_agents_of_one_name_are_refused(tmp_path: Path) -> None:
    """Savepoints find state by the name; the second one is reported [R2]."""
    (found,) = problems_of(tmp_path, actions(TAKE) + f"  - {{name: desk, actions: [{TAKE}]}}\n")

    assert found.startswith("5:12: there is an agent 'desk' already, in line 2; give this one another name")


def test_a_problem_of_an_anchor_is_told_once(tmp_path: Path) -> None:
    """However often an alias stands for it [R2]."""
    text = """\
        agents:
          - name: one
            actions: &actions [{function: wares:tke, events: [InputEvent]}]
          - {name: two, actions: *actions}
    """

    assert problems_of(tmp_path, text) == ["3:35: the module 'wares' has no 'tke'; did you mean 'take'?"]


def test_all_problems_come_at_once_and_in_order(tmp_path: Path) -> None:
    """Syntax apart, one look at a file tells everything that is wrong in it [R2]."""
    text = f"""\
        optoins: {{}}
        options: {{call-threads: 0}}
        subagents:
          - {{name: reviewer, class: wares:Reviewr}}
        agents:
          - name: desk
            name: counter
            colour: red
            actions:
              - {{function: wares:tke, events: [InputEvent, 7, wares:Oder], where: wares:is_lrge}}
              - {{function: wares:review}}
            resources:
              - {{name: r, type: objct, class: wares:Rats}}
          - name: other
            actions: [{TAKE}, {TAKE}]
    """

    places = [found.split(": ")[0] for found in problems_of(tmp_path, text)]

    assert places == [
        "1:1",
        "2:11",
        "4:29",
        "7:5",
        "8:5",
        "10:20",
        "10:52",
        "10:55",
        "10:75",
        "11:20",
        "13:25",
        "13:39",
        "15:72",
    ]
