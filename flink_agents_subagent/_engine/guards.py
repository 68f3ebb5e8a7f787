"""How many sub-agent calls a run may make, and how deep they may nest (G1–G3). Counts only; must not know how calls are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

__all__ = ["NOTHING_ADMITTED", "Guards"]

NOTHING_ADMITTED: Final[Mapping[str, int]] = MappingProxyType({})


class Guards:
    """The sub-agent calls of one run.

    Guarantee: what was admitted is counted again by a replay: by the executions that run again, and from the logs of those that
        do not. A refused call is not counted, and is refused again.
    Thread: task thread.
    """

    __slots__ = ("_admitted", "_max_calls", "_max_depth", "_visit")

    def __init__(self, max_calls: int, max_depth: int) -> None:
        """Take the options `subagent.max-calls-per-run` and `subagent.max-depth`."""
        self._max_calls = max_calls
        self._max_depth = max_depth
        self._admitted: Counter[str] = Counter()
        self._visit: Counter[str] = Counter()

    def admit(self, subagent: str, max_calls: int | None, chain: Sequence[str] = ()) -> str | None:
        """Count a call; return why it is refused, None when it is not.

        Args:
            subagent: Name of the sub-agent.
            max_calls: How many calls of it a run may make; None: any number.
            chain: Names of the sub-agents within which the call is made, outermost first.
        """
        refusal = self._refusal(subagent, max_calls, chain)
        if refusal is None:
            self._admitted[subagent] += 1
            self._visit[subagent] += 1
        return refusal

    def _refusal(self, subagent: str, max_calls: int | None, chain: Sequence[str]) -> str | None:
        if len(chain) >= self._max_depth:
            names = " > ".join([*chain, subagent])
            return f"sub-agents are nested deeper than subagent.max-depth = {self._max_depth}: {names}"
        if self._admitted.total() >= self._max_calls:
            return (
                f"the run has made subagent.max-calls-per-run = {self._max_calls} calls of sub-agents; "
                f"{subagent!r} is not called"
            )
        if max_calls is not None and self._admitted[subagent] >= max_calls:
            return f"the run has made max_calls_per_run = {max_calls} calls of sub-agent {subagent!r}"
        return None

    def depth_left(self, chain: Sequence[str]) -> int:
        """Return how many levels more a call made within these sub-agents may open (T16)."""
        return max(0, self._max_depth - len(chain))

    def take_visit(self) -> Mapping[str, int]:
        """Return what was admitted since the last time, for the log of the execution."""
        if not self._visit:
            return NOTHING_ADMITTED
        visit, self._visit = self._visit, Counter()
        return dict(visit)

    def replay_visit(self, admitted: Mapping[str, int]) -> None:
        """Count again what an execution was allowed that does not run again."""
        self._admitted.update(admitted)
