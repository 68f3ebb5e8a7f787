"""Agents described in YAML: the same plan as by decorators. Owns the author's way from a file to agents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flink_agents_subagent._descriptor.build import build_agents, read_options
from flink_agents_subagent._descriptor.document import read_document
from flink_agents_subagent._descriptor.problem import Problem, Problems, nearest
from flink_agents_subagent._descriptor.shape import check_shape
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.errors import DefinitionError

__all__ = ["AgentFile", "check_agents", "load_agents"]


@dataclass(frozen=True, slots=True)
class AgentFile:
    """What a YAML file describes. Made by `load_agents`."""

    path: Path
    """The file."""
    agents: Mapping[str, Agent]
    """By name, in the order of the file; each with the resources that the file has for all."""
    options: Mapping[str, Any]
    """Options of the job by name, as they are written in the file and as `set_option` and `LocalRunner` take them."""

    def agent(self, name: str | None = None) -> Agent:
        """Return an agent.

        Args:
            name: Its name; None: the only one of the file.

        Raises:
            DefinitionError: The file has no such agent (the nearest are named), or several and none was named.
        """
        known = ", ".join(map(repr, self.agents))
        if name is None and len(self.agents) == 1:
            return next(iter(self.agents.values()))
        if name is None:
            raise DefinitionError(f"{self.path} describes {len(self.agents)} agents; name one of {known}")
        if name not in self.agents:
            raise DefinitionError(f"{self.path} has no agent {name!r}; {nearest(name, self.agents, f'it has {known}')}")
        return self.agents[name]


def load_agents(path: str | os.PathLike[str]) -> AgentFile:
    """Read the agents of a YAML file; docs/yaml.md describes the format.

    Guarantee: an agent has the plan that the same declarations in Python have. Modules that the file names are imported; nothing
        else of it is executed, and no resource is built or opened.
    Thread: any, before submission.

    Raises:
        DefinitionError: Something in the file is wrong; names all of it, each with file, line, column and remedy (R2).
        OSError: The file cannot be read.
    """
    file, problems = _read(path)
    if problems:
        counted = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise DefinitionError(f"{path} has {counted}:\n" + "\n".join(map(str, problems)))
    return file


def check_agents(path: str | os.PathLike[str]) -> tuple[Problem, ...]:
    """Return everything that `load_agents` would refuse in a file, in the order of the file.

    Raises:
        OSError: The file cannot be read.
    """
    return _read(path)[1]


def _read(path: str | os.PathLike[str]) -> tuple[AgentFile, tuple[Problem, ...]]:
    file = Path(path)
    problems = Problems(str(file))
    agents: dict[str, Agent] = {}
    options: dict[str, Any] = {}
    root = read_document(file.read_bytes(), problems)
    if root is not None:
        check_shape(root, problems)
        options = read_options(root, problems)
        agents = build_agents(root, problems)
    return AgentFile(file, agents, options), problems.in_order()
