"""What is wrong in a file, and where. Owns how a problem looks; must not know what can be wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Position", "Problem", "Problems", "nearest"]


class Position(NamedTuple):
    """A place in a file; both count from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a file, with the remedy in its message."""

    file: str
    position: Position
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.position.line}:{self.position.column}: {self.message}"


@dataclass(slots=True)
class Problems:
    """Collects what is wrong in one file, so that all of it is reported at once."""

    file: str
    _found: list[Problem] = field(default_factory=list)

    def add(self, position: Position, message: str) -> None:
        """Keep a problem."""
        self._found.append(Problem(self.file, position, message))

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> tuple[Problem, ...]:
        """Return each problem once, in the order of the file."""
        return tuple(sorted(set(self._found)))


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a remedy for a name that does not exist: the known one that looks like it, or what is said otherwise."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise
