"""Files of the tests: written, loaded, refused. Makes the modules importable that the files name."""

from __future__ import annotations

import base64
import inspect
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from flink_agents_subagent._plan import dump_plan
from flink_agents_subagent._plan.by_value import unpack
from flink_agents_subagent.agent import Agent
from flink_agents_subagent.descriptor import check_agents, load_agents

__all__ = ["agent_of", "parts_of", "problems_of", "written"]

# By short names, so that the columns of the problems can be read off the texts.
sys.path.append(str(Path(__file__).with_name("modules")))


def written(folder: Path, text: str) -> Path:
    """Write a file."""
    file = folder / "f.yaml"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file


def problems_of(folder: Path, text: str) -> list[str]:
    """Return the problems of a file as `line:column: message`."""
    file = written(folder, text)
    return [str(problem).removeprefix(f"{file}:") for problem in check_agents(file)]


def agent_of(folder: Path, text: str) -> Agent:
    """Return the only agent of a file."""
    return load_agents(written(folder, text)).agent()


def parts_of(agent: Agent) -> tuple[Any, dict[str, Any]]:
    """Return the plan of an agent as what can be compared: pickled, equal texts differ by whether they are one object."""
    tree = json.loads(dump_plan(agent))
    objects = unpack(base64.b64decode(tree.pop("blob"))).objects
    return tree, {name: _compared(thing) for name, thing in objects.items()}


def _compared(thing: Any) -> Any:
    return (thing.__func__, type(thing.__self__), vars(thing.__self__)) if inspect.ismethod(thing) else thing
