"""`module:name` → what it names, in this process. Owns the import and the messages for the author; on the cluster the plan finds things itself."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
import sys
from typing import Any

from flink_agents_subagent._descriptor.node import Node
from flink_agents_subagent._descriptor.problem import Problems, nearest

__all__ = ["UnknownReferenceError", "find", "report_unknown"]

_KEYS = ("function", "where", "class", "input_type", "result_type", "output_type")
_REFERENCE = re.compile(r"[^\s:]+:[^\s:]+")


class UnknownReferenceError(Exception):
    """A reference names nothing; the message says what was found instead."""


def find(reference: str) -> Any:
    """Import what a reference names.

    Args:
        reference: `module:name`, or `module:Class.name`.

    Raises:
        UnknownReferenceError: The module or the name does not exist, or the module fails when it is imported.
    """
    module_name, _, qualified = reference.partition(":")
    found, shown = _module(module_name), f"the module {module_name!r}"
    parts = qualified.split(".")
    for number, part in enumerate(parts, start=1):
        if not hasattr(found, part):
            known = [name for name in dir(found) if not name.startswith("__")]
            place = getattr(found, "__file__", None)
            remedy = nearest(part, known, f"see {place}" if place else "define it there")
            raise UnknownReferenceError(f"{shown} has no {part!r}; {remedy}")
        found, shown = getattr(found, part), module_name + ":" + ".".join(parts[:number])
    return found


def report_unknown(entry: Node, problems: Problems) -> None:
    """Report the references of an entry that name nothing, when its shape is too wrong to look at more of it."""
    values = [node for key in _KEYS if (node := entry.get(key)) is not None]
    for node in (*values, *entry.elements("events")):
        if isinstance(node.content, str) and _REFERENCE.fullmatch(node.content):
            try:
                find(node.content)
            except UnknownReferenceError as error:
                problems.add(node.position, str(error))


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if not f"{name}.".startswith(f"{missing}."):
            raise UnknownReferenceError(
                f"the module {name!r} needs {missing!r}, which is not installed in {sys.prefix}"
            ) from error
        raise UnknownReferenceError(f"there is no module {missing!r}; {_remedy(missing)}") from error
    except (Exception, SystemExit) as error:
        raise UnknownReferenceError(
            f"the module {name!r} fails when it is imported: {type(error).__name__}: {error}"
        ) from error


def _remedy(missing: str) -> str:
    parent, _, last = missing.rpartition(".")
    if not parent:
        known = [module.name for module in pkgutil.iter_modules()]
        return nearest(last, known, "install it, or put its folder on PYTHONPATH")
    path = getattr(sys.modules.get(parent), "__path__", None)
    if path is None:
        return f"{parent} is a module, no package; write {parent}:{last} for what it defines"
    known = [module.name for module in pkgutil.iter_modules(path)]
    near = difflib.get_close_matches(last, known, n=1)
    return f"did you mean '{parent}.{near[0]}'?" if near else f"{parent} has {', '.join(known) or 'no modules'}"
