"""When a run is asked about next (M3). Pure: what is random about it is a hash, so that nothing depends on chance."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["PollInterval", "Polling"]

_SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class PollInterval:
    """How the pause between two probes grows; times in milliseconds."""

    first_ms: float
    factor: float
    longest_ms: float

    def after(self, age_ms: float) -> float:
        """Return the pause that a run has reached which has been asked about for so long."""
        if self.factor <= 1:
            return self.first_ms
        # Pauses that grow by a factor add up to the last one times factor / (factor - 1).
        return min(self.longest_ms, max(self.first_ms, age_ms * (self.factor - 1) / self.factor))


class Polling:
    """The pauses of one run.

    Guarantee: two runs that begin together drift apart; one that a replay takes up again goes on at the pace that its age has earned, at a
        moment of its own within the pause, so that ten thousand of them do not ask at once.
    """

    __slots__ = ("_interval", "_pause_ms", "_probes", "_seed", "waited_ms")

    def __init__(self, interval: PollInterval, seed: str) -> None:
        """Begin; `seed` tells the run from others."""
        self._interval = interval
        self._seed = seed
        self._pause_ms = interval.first_ms
        self._probes = 0
        self.waited_ms = 0
        """The sum of all pauses."""

    def first_ms(self, age_ms: int) -> int:
        """Return the pause before the first probe of a run that was submitted so long ago."""
        self._pause_ms = self._interval.after(age_ms)
        part = 1 - _SPREAD * self._fraction() if age_ms < self._pause_ms else self._fraction()
        return self._wait(self._pause_ms * part)

    def next_ms(self, retry_after_ms: int | None) -> int:
        """Return the pause before the next probe.

        Args:
            retry_after_ms: What the service asks for; it is not asked earlier.
        """
        self._probes += 1
        self._pause_ms = min(self._pause_ms * self._interval.factor, self._interval.longest_ms)
        if retry_after_ms is not None:
            return self._wait(retry_after_ms * (1 + _SPREAD * self._fraction()))
        return self._wait(self._pause_ms * (1 - _SPREAD * self._fraction()))

    def shorten(self, pause_ms: int, until_waited_ms: int) -> int:
        """Return a pause, already counted, that ends when so much has been waited in all."""
        shorter = max(1, min(pause_ms, until_waited_ms - (self.waited_ms - pause_ms)))
        self.waited_ms += shorter - pause_ms
        return shorter

    def _wait(self, pause_ms: float) -> int:
        pause = max(1, round(pause_ms))
        self.waited_ms += pause
        return pause

    def _fraction(self) -> float:
        text = f"{self._seed}:{self._probes}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") / (1 << 32)
