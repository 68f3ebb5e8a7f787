"""How a plan names functions and classes that can be imported: `module:qualified name`. Owns no values."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from flink_agents_subagent.errors import DefinitionError

__all__ = ["interpreter", "reference_of", "resolve_reference", "type_name"]


def type_name(cls: type[Any]) -> str:
    """Return the name under which journals know a class."""
    return f"{cls.__module__}:{cls.__qualname__}"


def reference_of(thing: Any) -> str | None:
    """Return the reference of a function or class; None when another process could not import it under that name.

    What the job script itself defines (`__main__`), and what a function defines inside, has none.
    """
    module, qualified = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualified, str) or module == "__main__" or "<" in qualified:
        return None
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return f"{module}:{qualified}" if found is thing else None


def resolve_reference(reference: str, what: str) -> Any:
    """Import what a reference names.

    Args:
        reference: `module:qualified name`.
        what: What is looked for, for the message, as in `action 'review'`.

    Raises:
        DefinitionError: It cannot be imported; names the interpreter and the ways to ship it.
    """
    module, _, qualified = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise DefinitionError(
            f"{what} needs the module {module!r}, which cannot be imported by {interpreter()}: {error}. "
            "Install it there, or ship it with python.files (env.add_python_file, flink run -pyfs)"
        ) from error
    for part in qualified.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise DefinitionError(
                f"{what} is not in {getattr(found, '__file__', None) or module} as {qualified!r} ({interpreter()}): {error}. "
                "The module there differs from the one that the job was submitted with; ship it again"
            ) from error
    return found


def interpreter() -> str:
    """Return a text that names this interpreter."""
    return f"Python {sys.version_info.major}.{sys.version_info.minor} at {sys.executable or sys.prefix}"
