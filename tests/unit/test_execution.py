"""The environment before any stream: options and shared resources. What it does with streams is tested on Flink."""

from __future__ import annotations

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
