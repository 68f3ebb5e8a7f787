"""Which sub-agents a chat model may offer to be called. Owns the rule; who asks is whoever compiles a plan or opens a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import ResourceDescriptor
from flink_agents_subagent.subagents.java import JavaSubagent

__all__ = ["check_offered", "offered_by"]


def offered_by(model: Any) -> tuple[str, ...]:
    """Return the names in the `subagents` of a chat model, built or described; empty when it has none."""
    declared = (
        model.arguments.get("subagents") if isinstance(model, ResourceDescriptor) else getattr(model, "subagents", ())
    )
    if isinstance(declared, str) or not isinstance(declared, Iterable):
        return ()
    return tuple(name for name in declared if isinstance(name, str))


def check_offered(model: str, offered: Iterable[str], subagents: Mapping[str, Any]) -> None:
    """Refuse bridge handles among the sub-agents that a chat model offers (B6, T13).

    Args:
        model: Name of the chat model.
        offered: Names in its `subagents`.
        subagents: All sub-agents that there are, built or described; a name that is not among them is not for this check.

    Raises:
        DefinitionError: Names the model, the sub-agent, its class and the remedy.
    """
    for name in offered:
        handle = subagents.get(name)
        class_name = _class_of(handle)
        if class_name is not None:
            raise DefinitionError(
                f"chat model {model!r} offers the sub-agent {name!r}, which is the Java class {class_name}: a cross-language callable is "
                "not offered to a model. Take it out of the model's subagents; code may still submit to it, for instance an action "
                "behind a tool, or a sub-agent in Python that hands its request over"
            )


def _class_of(handle: Any) -> str | None:
    """Return the Java class of a bridge handle; None when it is something else."""
    if isinstance(handle, JavaSubagent):
        return handle.class_name
    if (
        isinstance(handle, ResourceDescriptor)
        and isinstance(handle.clazz, type)
        and issubclass(handle.clazz, JavaSubagent)
    ):
        return str(handle.arguments.get("class_name"))
    return None
