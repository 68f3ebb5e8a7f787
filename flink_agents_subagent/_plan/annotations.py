"""Annotations of classes that travel by value. Owns resolving them while the script that they belong to is at hand.

Under `from __future__ import annotations` they are texts, which are looked up in the class's module when something, as pydantic
does for `get_result`, asks for them. Where the agent runs, that module (`__main__`) is another one.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

__all__ = ["Annotations", "annotations_of", "restore_annotations"]

Annotations = list[tuple[type[Any], dict[str, Any]]]


def annotations_of(classes: Iterable[type[Any]]) -> Annotations:
    """Return the resolved annotations of the classes that have texts among them; models resolve theirs themselves."""
    found: Annotations = []
    for cls in classes:
        if issubclass(cls, BaseModel):
            # A model that waits for a later definition finds it now or never.
            cls.model_rebuild(raise_errors=False)
            continue
        resolved = _resolved(cls)
        if resolved is not None:
            found.append((cls, resolved))
    return found


def restore_annotations(annotations: Annotations) -> None:
    """Give classes their resolved annotations, and dataclasses the types of their fields."""
    for cls, resolved in annotations:
        cls.__annotations__ = resolved
        fields: Mapping[str, dataclasses.Field[Any]] = getattr(cls, "__dataclass_fields__", {})
        for name, field in fields.items():
            if name in resolved:
                field.type = resolved[name]


def _resolved(cls: type[Any]) -> dict[str, Any] | None:
    own = vars(cls).get("__annotations__", {})
    if not any(isinstance(hint, str | typing.ForwardRef) for hint in own.values()):
        return None
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError):
        # Names that exist for type checkers only: whoever asks for them fails in the script, too.
        return None
    return {name: hints[name] for name in own}
