"""What happens next in a simulation: fairly, or as a seed says. Owns every choice; must not know what the choices do."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Literal

from flink_agents_subagent.testing.activity import Activity
from flink_agents_subagent.testing.element import SourceInput
from flink_agents_subagent.testing.process import Process

__all__ = ["Reorder", "Schedule"]

Reorder = Literal["none", "keys", "inputs"]
"""How the source's inputs come back after a restore: as before, those of different keys mixed otherwise, or all of them."""


_CHECKPOINTS = 0.08
"""Probability of a checkpoint before each activity."""
_LONGEST_PAUSE_MS = 24 * 3_600_000
"""While something waits to be done no more time passes at once; the retention of unclaimed journals must not pass."""


class Schedule:
    """The choices of one simulation; the same seed makes the same choices."""

    def __init__(self, seed: int, *, is_fair: bool, reorder: Reorder) -> None:
        """Choose by `seed`.

        Args:
            seed: Of all that is random.
            is_fair: Let one thing of each kind happen in turn, as a machine that is not busy does; checkpoints are random.
            reorder: See `Reorder`.
        """
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self._reorder = reorder
        self._turns = itertools.cycle(Activity) if is_fair else None
        self._checkpoints = _CHECKPOINTS if is_fair else self._random.choice((0.01, _CHECKPOINTS, 0.3))
        # In each run some things are slow: a store that lags behind, or calls that take long, must show too.
        self._haste = {activity: self._random.choice((0.03, 0.3, 1.0)) for activity in Activity}

    def order(self, source: Sequence[SourceInput]) -> list[SourceInput]:
        """Return the inputs in the order in which they come back."""
        if self._reorder == "none":
            return list(source)
        mixed = list(source)
        self._random.shuffle(mixed)
        if self._reorder == "inputs":
            return mixed
        queues: dict[bytes, list[SourceInput]] = {}
        for element in source:
            queues.setdefault(element.key, []).append(element)
        return [queues[element.key].pop(0) for element in mixed]

    def wants_checkpoint(self) -> bool:
        """Tell whether a checkpoint comes next."""
        return self._random.random() < self._checkpoints

    def wants_checkpoint_at_once(self) -> bool:
        """Tell whether a checkpoint comes right after a restore, before any input has come back."""
        return self._turns is None and self._random.random() < 0.3

    def wants_older_checkpoint(self) -> bool:
        """Tell whether the next life is restored from the checkpoint before the last."""
        return self._turns is None and self._random.random() < 0.2

    def next_crash(self, points: int) -> int:
        """Return after how many points the next life dies; more than there are: not at all."""
        return self._random.randint(1, points + points // 4)

    def pause_ms(self) -> int:
        """Return how long a restart takes."""
        return self._random.choice((0, 1, 1_000, 60_000))

    def choose(self, process: Process) -> tuple[Activity, int] | None:
        """Return what happens next, and which one of it; None lets time pass."""
        possible = process.activities()
        if not possible:
            return None
        if self._turns is not None:
            return next(turn for turn in self._turns if turn in possible), 0
        # Time passes although there is something to do: the store is slow, a pool is busy.
        if self._random.random() < 0.05 and process.sleeps_at_most(_LONGEST_PAUSE_MS):
            return None
        (activity,) = self._random.choices(possible, [self._haste[activity] for activity in possible])
        return activity, self._random.randrange(process.choices(activity))
