"""The environment before any stream: options and shared resources. What it does with streams is tested on Flink."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from flink_agents_subagent import AgentsExecutionEnvironment, DefinitionError, ResourceType


def environment() -> AgentsExecutionEnvironment:
    """Return an environment on nothing."""
    return AgentsExecutionEnvironment.get_execution_environment(SimpleNamespace())


def test_options_are_parsed_when_they_are_set() -> None:
    """Every option has a value, those that were set the given one."""
    config = environment().set_option("call-threads", "8").set_option("replay.unclaimed-retention", "2 h").get_config()

    assert (config["call-threads"], config["replay.unclaimed-retention"], config["log-keys"]) == (8, 7_200_000, False)


def test_a_misspelt_option_is_refused() -> None:
    """The script fails where the option is set."""
    with pytest.raises(DefinitionError, match="did you mean call-threads"):
        environment().set_option("call-thread", 8)


def test_shared_resources_have_unique_names() -> None:
    """Two resources of one type and name are refused [R2]."""
    env = environment().add_resource("x", ResourceType.OBJECT, 1).add_resource("x", ResourceType.TOOL, 2)

    with pytest.raises(DefinitionError, match="the environment already has a resource 'x' of type 'object'"):
        env.add_resource("x", ResourceType.OBJECT, 3)
    with pytest.raises(DefinitionError, match="resource 'y' of type 'object' is None"):
        env.add_resource("y", ResourceType.OBJECT, None)


def agent_file(folder: Path, name: str, agent: str = "desk", options: str = "{}") -> Path:
    """Write a file of one agent."""
    file = folder / name
    file.write_text(
        f"options: {options}\nagents: [{{name: {agent}, actions: [{{function: operator:add, events: [InputEvent]}}]}}]\n",
        encoding="utf-8",
    )
    return file


def test_options_of_a_file_are_set_where_it_is_loaded(tmp_path: Path) -> None:
    """They go before what was set earlier, and what is set later goes before them."""
    file = agent_file(tmp_path, "f.yaml", options="{call-threads: 3, log-keys: true, max-held-inputs: 7}")
    env = environment().set_option("call-threads", 1).load_yaml(file).set_option("log-keys", value=False)

    config = env.get_config()

    assert (config["call-threads"], config["log-keys"], config["max-held-inputs"]) == (3, False, 7)


def test_two_files_with_one_agent_are_refused(tmp_path: Path) -> None:
    """Both are named, and nothing of the second is taken [R2]."""
    env = environment().load_yaml(agent_file(tmp_path, "one.yaml"))

    with pytest.raises(
        DefinitionError, match=r"two.yaml and .*one.yaml both describe an agent 'desk'; give one of them"
    ):
        env.load_yaml(agent_file(tmp_path, "two.yaml", options="{call-threads: 3}"))
    assert env.get_config()["call-threads"] == 64


@pytest.mark.parametrize(
    ("files", "name", "remedy"),
    [
        ([], "desk", r"call load_yaml\(path\) before apply\(name\)"),
        (["desk", "shop"], "dsk", "it knows 'desk'$"),
        (["desk", "shop"], "x", "it knows 'desk', 'shop'$"),
    ],
)
def test_an_agent_that_no_file_has_is_refused(tmp_path: Path, files: list[str], name: str, remedy: str) -> None:
    """The nearest is named, or all [R2]."""
    env = environment()
    for agent in files:
        env.load_yaml(agent_file(tmp_path, f"{agent}.yaml", agent))

    with pytest.raises(DefinitionError, match=f"the environment knows no agent '{name}' from a YAML file; {remedy}"):
        env.from_datastream(SimpleNamespace(), key_field="k").apply(name)
