"""Names that mean other entries of a file, and agents inside agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from flink_agents_subagent import ResourceType, load_agents
from tests.unit._descriptor.files import problems_of, written

_FILE = """\
    chat_model_connections: [{name: echo, class: model_town:Echo}]
    prompts: [{name: guide, text: Be kind.}]
    agents:
      - name: asker
        react: {chat_model: large}
        tools: [{function: model_town:look_up}]
        subagents: [{name: helper, agent: inner}, {name: clerk, class: wares:Simple}]
        chat_models: [{name: large, connection: echo, model: x, prompt: guide, tools: [look_up], subagents: [helper, clerk]}]
      - name: inner
        react: {chat_model: small, prompt: guide}
        chat_models: [{name: small, connection: echo, model: x, tools: [look_up]}]
"""


def test_names_are_found_in_the_agent_the_file_and_its_callers(tmp_path: Path) -> None:
    """`inner` sees the connection and the prompt of the file, and the tool of the agent that it runs in [R1, N1]."""
    assert problems_of(tmp_path, _FILE) == []


def test_an_agent_of_the_file_may_run_inside_another(tmp_path: Path) -> None:
    """It is the same agent, under the name of the entry [R1, N1]."""
    agents = load_agents(written(tmp_path, _FILE)).agents

    assert agents["asker"].resources["helper", ResourceType.AGENT] is agents["inner"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "model: x, prompt: guide",
            "model: x, prompt: giude",
            "8:69: chat model 'large' names the prompt 'giude', which there is not; did you mean 'guide'?",
        ),
        (
            "[helper, clerk]}",
            "[helper, clark]}",
            "8:114: chat model 'large' names the sub-agent 'clark', which there is not; did you mean 'clerk'?",
        ),
        (
            "tools: [look_up], sub",
            "tools: [find], sub",
            "8:84: chat model 'large' names the tool 'find', which there is not; there is 'look_up'",
        ),
        (
            "{name: small, connection: echo",
            "{name: small, connection: eco",
            "11:45: chat model 'small' names the chat model connection 'eco', which there is not; did you mean 'echo'?",
        ),
        (
            "{chat_model: large}",
            "{chat_model: lrge}",
            "5:25: agent 'asker' names the chat model 'lrge', which there is not; did you mean 'large'?",
        ),
        (
            "{chat_model: small, prompt: guide}",
            "{chat_model: small, prompt: guid}",
            "10:40: agent 'inner' names the prompt 'guid', which there is not; did you mean 'guide'?",
        ),
        ("agent: inner", "agent: iner", "7:39: there is no agent 'iner' in the file; did you mean 'inner'?"),
        (
            "agent: inner}",
            "agent: inner, timeout: 3}",
            "7:46: sub-agent 'helper' is an agent of the file, which has no 'timeout' here; leave it out",
        ),
        ("agent: inner}", "agent: [inner]}", "7:39: 'agent' is a list; give a text"),
    ],
)
def test_a_name_that_means_nothing_is_refused_at_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    """The message says who names what, and what there is [R2]."""
    assert old in _FILE

    found = problems_of(tmp_path, _FILE.replace(old, new))

    assert found[0].startswith(problem), found


def test_a_text_of_several_words_is_a_prompt_and_no_name(tmp_path: Path) -> None:
    """What has placeholders is one, too [A2]."""
    for prompt in ("Be kind.", "'{input}'"):
        assert problems_of(tmp_path, _FILE.replace("small, prompt: guide", f"small, prompt: {prompt}")) == []


_CYCLE = """\
    agents:
      - {name: a, actions: [{function: model_town:echo}], subagents: [{name: x, agent: b}]}
      - {name: b, actions: [{function: model_town:echo}], subagents: [{name: y, agent: c}, {name: z, agent: d}]}
      - {name: c, actions: [{function: model_town:echo}], subagents: [{name: x, agent: a}]}
      - {name: d, actions: [{function: model_town:echo}]}
"""


def test_an_agent_that_would_run_inside_itself_is_refused_with_the_chain(tmp_path: Path) -> None:
    """Once, at the entry that closes the circle [G1]."""
    assert problems_of(tmp_path, _CYCLE) == [
        "4:84: agent 'a' would run inside itself: a → b → c → a; take one of them out"
    ]


def test_an_agent_that_is_for_every_agent_would_run_inside_itself(tmp_path: Path) -> None:
    """It is one of them [G1]."""
    text = """\
        subagents: [{name: x, agent: a}]
        agents: [{name: a, actions: [{function: model_town:echo}]}]
    """

    assert problems_of(tmp_path, text) == ["1:30: agent 'a' would run inside itself: a → a; take one of them out"]
