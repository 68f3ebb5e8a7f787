"""Arguments of a class that is built later: what its constructor takes, and what the file gives. Owns the comparison."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Problems
from flink_agents_subagent.resources import parameters_of

__all__ = ["check_arguments"]


def check_arguments(owner: str, clazz: type[Any], given: Mapping[str, Any], node: Node, problems: Problems) -> None:
    """Report arguments that a constructor does not take, and those that it needs.

    Args:
        owner: What the class is of, for the messages.
        clazz: The class.
        given: Arguments by name, from `args` and from keys of the entry.
        node: The entry.
        problems: Takes what is wrong.
    """
    try:
        parameters = parameters_of(clazz)
    except ValueError:
        # Some built-in classes have no signature; they are checked when they are built.
        return
    what = f"{clazz.__qualname__}, the class of {owner},"
    missing = [name for name in parameters.needed if name not in given]
    # What a class hands on to its base shows when it is built; but a misspelt name leaves a gap.
    candidates = missing if parameters.takes_any else parameters.known
    for name in [name for name in given if name not in parameters.known]:
        near = difflib.get_close_matches(name, candidates, n=1)
        if near or not parameters.takes_any:
            place = node.key_at(*([name] if node.get(name) else ["args", name]))
            remedy = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(parameters.known) or 'none'}"
            problems.add(place, f"{what} has no argument {name!r}; {remedy}")
            missing = [other for other in missing if other not in near]
    for name in missing:
        place = node.at("args") if node.get("args") else node.position
        problems.add(place, f"{what} needs the argument {name!r}; add it to 'args'")
