"""Arguments of a class that is built later: what its constructor takes, and what the file gives. Owns the comparison."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args, get_origin

from typing_extensions import Unpack, get_type_hints

from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Problems

__all__ = ["check_arguments"]


class _Parameters(NamedTuple):
    """What a constructor takes by name."""

    needed: list[str]
    known: list[str]
    takes_any: bool
    """Whether others are handed on to somewhere."""


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
        parameters = _parameters_of(clazz)
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


def _parameters_of(clazz: type[Any]) -> _Parameters:
    several = inspect.signature(clazz).parameters.values()
    by_name = [one for one in several if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = [one.name for one in by_name if one.default is one.empty]
    rest = next((one.name for one in several if one.kind is one.VAR_KEYWORD), None)
    listed = None if rest is None else _listed(clazz, rest)
    return _Parameters(
        needed, [*(one.name for one in by_name), *(listed or ())], takes_any=rest is not None and listed is None
    )


def _listed(clazz: type[Any], parameter: str) -> list[str] | None:
    """Return the names of `**arguments: Unpack[Arguments]`, None when the constructor lists none."""
    try:
        hint = get_type_hints(clazz.__init__).get(parameter)
    except (NameError, AttributeError, TypeError):
        # Names that exist for type checkers only.
        return None
    if get_origin(hint) is not Unpack:
        return None
    (arguments,) = get_args(hint)
    return sorted(arguments.__optional_keys__ | arguments.__required_keys__)
