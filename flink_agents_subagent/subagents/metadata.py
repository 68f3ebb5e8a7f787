"""What an agent says of itself for callers that run it as a sub-agent (A1). Owns the mixin and how it is read; must not know kinds of agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.subagents.setup import check_description

__all__ = ["SubagentMetadata", "SubagentMetadataProvider", "metadata_of"]


class SubagentMetadataProvider:
    """Mixin of agents that describe themselves, so that a chat model of another agent can be told what to call them with.

    Override what there is to say, as a property or as an attribute of the class. Without the mixin, or with nothing overridden, code may
    submit to the agent all the same; a chat model is not offered it (T2).

    Guarantee: read when the agent is registered as a sub-agent; a later change is not seen.
    """

    @property
    def description(self) -> str | None:
        """What the agent does, for a chat model; None leaves a generic text."""
        return None

    @property
    def input_schema(self) -> Mapping[str, Any] | str | None:
        """JSON schema of what the agent is called with, an object or its text; None: it is not offered to a chat model."""
        return None

    @property
    def input_key(self) -> str | None:
        """The property of the input that holds the request itself; None when there is no such property."""
        return None


class SubagentMetadata(NamedTuple):
    """What was read of an agent."""

    description: str | None = None
    input_schema: Mapping[str, Any] | str | None = None
    input_key: str | None = None


def metadata_of(name: str, agent: object) -> SubagentMetadata:
    """Return what an agent says of itself; of one without the mixin nothing.

    Args:
        name: Of the sub-agent, for messages.
        agent: What is registered.

    Raises:
        DefinitionError: A description or a key is blank, or the schema is blank or no JSON object (R2, T13).
    """
    if not isinstance(agent, SubagentMetadataProvider):
        return SubagentMetadata()
    owner = f"sub-agent {name!r}"
    read = SubagentMetadata(agent.description, agent.input_schema, agent.input_key)
    check_description(owner, read.description, read.input_schema)
    key: object = read.input_key
    if key is not None and (not isinstance(key, str) or not key.strip()):
        raise DefinitionError(f"{owner} has the input key {key!r}; give a text that is not blank, or None")
    return read
