"""The memory port of an action. Owns the contract; `_engine` implements it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["MemoryObject"]


class MemoryObject(ABC):
    """A tree of values under dotted paths (E6).

    Guarantee: writes are visible to the run at once, reach Flink state when the run ends, and not at all when it fails (E6.2, E6.3).
    Replay: a value that a run has read is the same on its replay.
    Thread: task thread, inside the action only.

    A value is any type of the durable encoding; containers are copied in and out, so a later change of the
    object in the action does not change memory. Paths are non-empty names joined by dots.
    """

    @abstractmethod
    def get(self, path: str, default: Any = None) -> Any:
        """Return the value at `path`, a `MemoryObject` when an object is there, `default` when nothing is."""

    @abstractmethod
    def set(self, path: str, value: Any) -> None:
        """Write a value, making the objects on the way; raises `NotExpressibleError` with the path, `ContextMisuseError` over an object."""

    @abstractmethod
    def remove(self, path: str) -> bool:
        """Remove a value or an object with everything in it; tell whether there was one."""

    @abstractmethod
    def is_exist(self, path: str) -> bool:
        """Tell whether a value or an object is at `path`."""

    @abstractmethod
    def get_field_names(self) -> list[str]:
        """Return the names directly below this object, sorted."""

    @abstractmethod
    def get_fields(self) -> dict[str, Any]:
        """Return names and values directly below this object; objects as `MemoryObject`."""

    @abstractmethod
    def new_object(self, path: str, overwrite: bool = False) -> MemoryObject:
        """Make an object at `path`; an existing object is returned, an existing value is an error unless `overwrite`."""
