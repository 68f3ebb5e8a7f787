"""The shape of a file: keys, types, texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit._descriptor.files import problems_of

_AGENT = """\
    agents:
      - name: desk
        actions:
          - {function: wares:take, events: [InputEvent]}
"""


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("chat_model: []", "5:1: the file has no key 'chat_model'; did you mean 'chat_models'?"),
        ("subagent: []", "5:1: the file has no key 'subagent'; did you mean 'subagents'?"),
        ("options: [a]", "5:10: 'options' is a list; give a mapping of keys and values"),
        ("options:", "5:1: 'options' is empty; give a mapping of keys and values"),
        ("resources: {a: 1}", "5:12: 'resources' is a mapping; give a list"),
        ("resources: [{name: a, type: tool}]", "5:13: a resource needs the key 'class'; add it"),
        ("subagents: [{name: a}]", "5:13: sub-agent 'a' needs the key 'class', 'java' for one in"),
        (
            "subagents: [{name: a, class: wares:Reviewer, java: com.acme.A, args: {factor: 1}}]",
            "5:46: sub-agent 'a' has a 'class' and a 'java'; leave one of them out",
        ),
        ("subagents: [text]", "5:13: an element of 'subagents' is 'text'; give a mapping of keys and values"),
        ("options: {call-treads: 3}", "5:11: there is no option 'call-treads'; did you mean call-threads?"),
        ("options: {call-threads: many}", "5:11: option 'call-threads' cannot be 'many'; give a whole number of at"),
        ("options: {call-threads: }", "5:11: option 'call-threads' cannot be None; give a whole number of at least 1"),
    ],
)
def test_a_problem_of_the_file_is_at_its_place(tmp_path: Path, more: str, problem: str) -> None:
    """Each has line, column and the remedy [R2]."""
    found = problems_of(tmp_path, _AGENT + "    " + more)

    assert found[0].startswith(problem), found


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            "{function: wares:take, on: [InputEvent]}",
            "an action has no key 'on'; it has function, name, events, where, config",
        ),
        ("{function: wares:take, event: [InputEvent]}", "an action has no key 'event'; did you mean 'events'?"),
        ("{events: [InputEvent]}", "an action needs the key 'function'; add it"),
        ("{function: 5}", "'function' is 5; give a text, in quotes if it looks like something else"),
        ("{function: wares.take}", "'function' is 'wares.take'; give module:name, as in shop.actions:book"),
        ("{function: wares:take, events: InputEvent}", "'events' is 'InputEvent'; give a list"),
        ("{function: wares:take, events: []}", "'events' is an empty list; give at least one element"),
        (
            "{function: wares:take, events: [Order]}",
            "an element of 'events' is 'Order'; give InputEvent, or module:Class of",
        ),
        ("{function: wares:take, events: [InputEvent], name: ' '}", "'name' is ' '; give a text that is not blank"),
        ("{function: wares:take, events: [InputEvent], where: }", "'where' is empty; give it a value, or leave it out"),
        ("{function: wares:take, events: [InputEvent], config: 3}", "'config' is 3; give a mapping of keys and values"),
        ("take", "an element of 'actions' is 'take'; give a mapping of keys and values"),
    ],
)
def test_a_problem_of_an_action_is_at_its_place(tmp_path: Path, entry: str, problem: str) -> None:
    """The message says what an action has instead [R2]."""
    found = problems_of(tmp_path, f"agents:\n  - name: desk\n    actions:\n      - {entry}\n")

    assert found[0].split(": ", 1)[1].startswith(problem)
    assert all(message.startswith("4:") for message in found)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "1:1: the file needs the key 'agents'; add it"),
        ("- a", "1:1: the file is a list; give a mapping of keys and values"),
        ("agents: []", "1:9: 'agents' is an empty list; give at least one element"),
        ("agents: [{name: a}]", "1:10: an agent needs the key 'actions', or 'react' for a ReAct agent; add it"),
        ("agents: [{name: a, actions: []}]", "1:29: 'actions' is an empty list; give at least one element"),
        ("agents: [{actions: [{function: wares:Desk.anywhere}]}]", "1:10: an agent needs the key 'name'; add it"),
        (
            "agents: [{name: 5, actions: [{function: wares:Desk.anywhere}]}]",
            "1:17: 'name' is 5; give a text, in quotes if",
        ),
    ],
)
def test_what_a_file_must_have(tmp_path: Path, text: str, problem: str) -> None:
    """A file without agents, and an agent without name or actions, are refused once [R2]."""
    (found,) = problems_of(tmp_path, text)

    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("objekt", "'type' is 'objekt'; did you mean 'object'?"),
        ("database", "'type' is 'database'; give one of chat_model, chat_model_connection, prompt, tool, object"),
        ("agent", "'type' is 'agent'; list a sub-agent under 'subagents'"),
        ("[tool]", "'type' is a list; give one of chat_model, chat_model_connection, prompt, tool, object"),
    ],
)
def test_types_of_resources_are_known(tmp_path: Path, kind: str, problem: str) -> None:
    """Another type is refused with the nearest, or all [R2]."""
    text = _AGENT + f"    resources: [{{name: r, type: {kind}, class: wares:Rates, args: {{base: EUR}}}}]"

    assert problems_of(tmp_path, text) == [f"5:29: {problem}"]
