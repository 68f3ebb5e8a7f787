"""Author's objects → frozen plan → bytes and back → what the engine runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flink_agents_subagent._plan.by_value import types_of
from flink_agents_subagent._plan.compile import compile_definition
from flink_agents_subagent._plan.compiled import CompiledAgent
from flink_agents_subagent._plan.definition import define
from flink_agents_subagent._plan.lifecycle import ResourceLifecycle, all_resources
from flink_agents_subagent._plan.wire import read_definition, write_definition
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.resources import ResourceType

__all__ = ["ResourceLifecycle", "all_resources", "compile_agent", "dump_plan", "load_plan"]

SharedResources = Mapping[tuple[str, ResourceType], Any]


def compile_agent(agent: Agent, resources: SharedResources | None = None) -> CompiledAgent:
    """Compile in process: instances are used as they are, descriptors are built (for `LocalRunner`).

    Raises:
        DefinitionError: The declaration is wrong; names what.
    """
    definition = define(agent, resources)
    return compile_definition(definition, types_of(definition.functions))


def dump_plan(agent: Agent, resources: SharedResources | None = None) -> bytes:
    """Return the plan of an agent as bytes; what the job script defines is inside by value (P9).

    Raises:
        DefinitionError: The declaration is wrong, or something cannot be sent; names what.
    """
    return write_definition(define(agent, resources))


def load_plan(plan: bytes) -> CompiledAgent:
    """Return the agent of a plan; resources are built and named, not opened.

    Raises:
        UnknownVersionError: A newer release wrote the plan.
        DefinitionError: Another Python wrote it, or it refers to what is missing here; names it and the remedy.
    """
    definition, types = read_definition(plan)
    return compile_definition(definition, types)
