"""What agents say of themselves, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from flink_agents_subagent import Agent, DefinitionError
from flink_agents_subagent.subagents.metadata import SubagentMetadata, SubagentMetadataProvider, metadata_of

_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


class Plain(Agent):
    """Says nothing of itself, though it has an attribute of such a name."""

    description = "not for callers"


class Silent(SubagentMetadataProvider, Agent):
    """Has the mixin, and overrides nothing."""


class ByAttribute(SubagentMetadataProvider, Agent):
    """Overrides with attributes of the class."""

    description = "Tells the weather."
    input_schema = _SCHEMA
    input_key = "city"


class ByProperty(SubagentMetadataProvider, Agent):
    """Overrides with properties, which may look at the instance."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place

    @property
    def description(self) -> str:
        """Name the place."""
        return f"Tells the weather of {self._place}."

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """Give the schema."""
        return _SCHEMA


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (Plain(), SubagentMetadata()),
        (Silent(), SubagentMetadata()),
        (ByAttribute(), SubagentMetadata("Tells the weather.", _SCHEMA, "city")),
        (ByProperty("Rome"), SubagentMetadata("Tells the weather of Rome.", _SCHEMA)),
    ],
)
def test_metadata_is_what_the_mixin_says(agent: Agent, expected: SubagentMetadata) -> None:
    """By attribute or property of any class that has the mixin; of one without it nothing [A1]."""
    assert metadata_of("weather", agent) == expected


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("description", " ", "sub-agent 'weather' has the description ' '; give a text"),
        ("input_schema", {}, "the input schema of sub-agent 'weather' is {}; give a JSON schema"),
        ("input_schema", "{", "the input schema of sub-agent 'weather' is no JSON"),
        ("input_key", "", "sub-agent 'weather' has the input key ''; give a text that is not blank, or None"),
    ],
)
def test_metadata_that_says_nothing_is_refused(attribute: str, value: object, message: str) -> None:
    """The message names the sub-agent and the value [A1, R2, T13]."""
    agent = type("Odd", (SubagentMetadataProvider, Agent), {attribute: value})()

    with pytest.raises(DefinitionError) as error:
        metadata_of("weather", agent)

    assert str(error.value).startswith(message)
