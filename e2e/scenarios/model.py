"""What a scenario is made of: plain data. Owns the vocabulary; performs and judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "BrokerAway",
    "Crash",
    "Inject",
    "Kill",
    "KillWhileBrokerSilent",
    "Moment",
    "Orders",
    "Orphan",
    "Reject",
    "Reorder",
    "RestartJobManager",
    "Resume",
    "Scenario",
    "Step",
    "Zombie",
]

Moment = float | tuple[float, float]
"""A share of the calls that the run makes; of a range the seed chooses."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The inputs of a job."""

    count: int = 120
    keys: Literal["plain", "odd"] = "plain"
    """`odd`: separators, unicode, control characters, the empty text."""
    key_count: int = 12
    is_identical: bool = False
    """All inputs of a key are the same."""
    per_second: float = 30.0
    padding: int = 0
    """Bytes that the answers of every tenth order have in addition."""


@dataclass(frozen=True, slots=True)
class Kill:
    """The TaskManager is killed with −9, and a new one started."""

    at: Moment
    throttle: int = 0
    """Bytes that a client may read a second while the new one recovers; 0: as many as it likes."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The TaskManager dies at an armed point, one after the other (decision 0011)."""

    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestartJobManager:
    """The JobManager is killed with −9; the job is submitted again from its last retained checkpoint."""

    at: Moment


@dataclass(frozen=True, slots=True)
class Resume:
    """The job is stopped with a savepoint while calls are in flight, and submitted again from it."""

    at: Moment
    parallelism: int | None = None
    """None: as before."""
    code: str | None = None
    """What the code is from here on; None: as before."""
    fails_with: str | None = None
    """The job must fail so (a regular expression) before it makes a call that is not recorded; then it is resumed with the code that it had."""


@dataclass(frozen=True, slots=True)
class BrokerAway:
    """The broker does not answer for a while."""

    at: Moment
    how: Literal["stop", "kill", "pause"]
    seconds: float


@dataclass(frozen=True, slots=True)
class KillWhileBrokerSilent:
    """The broker is paused, the TaskManager killed while it waits for acknowledgements, the broker resumed."""

    at: Moment


@dataclass(frozen=True, slots=True)
class Zombie:
    """The TaskManager is paused with calls in flight, replaced, and resumed when its successor has done the work."""

    at: Moment


@dataclass(frozen=True, slots=True)
class Orphan:
    """The JobManager is killed with −9, and the TaskManager does not notice: it goes on while its successor runs.

    The job is submitted again from its last checkpoint, on another TaskManager; the store must stop the first one.
    """

    at: Moment


@dataclass(frozen=True, slots=True)
class Reject:
    """The broker refuses records until the job has failed of it (a regular expression); then it takes them again."""

    at: Moment
    how: Literal["too large", "no permission", "too few replicas"]
    fails_with: str


@dataclass(frozen=True, slots=True)
class Inject:
    """Somebody else writes into the topic: a foreign record, and a torn copy of one of ours. Then the TaskManager is killed.

    The restore must fail with the address; then the job is submitted again from its last checkpoint with `store.on-corrupt: skip`.
    """

    at: Moment


@dataclass(frozen=True, slots=True)
class Reorder:
    """The TaskManager is killed; the source then brings the inputs since the last checkpoint in another order."""

    at: Moment


Step = (
    Kill
    | Crash
    | RestartJobManager
    | Resume
    | BrokerAway
    | KillWhileBrokerSilent
    | Zombie
    | Orphan
    | Reject
    | Inject
    | Reorder
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens to a job, and what is allowed to follow."""

    name: str
    contracts: str
    """Ids that it proves."""
    steps: tuple[Step, ...]
    store: Literal["kafka", "embedded"] = "kafka"
    orders: Orders = field(default_factory=Orders)
    parallelism: int = 2
    jobs: int = 1
    """Jobs that run side by side on one topic."""
    options: Mapping[str, str] = field(default_factory=dict)
    checkpoint_ms: int = 1000
    repeats: Literal["none", "in flight"] = "in flight"
    """`in flight`: a call of which no outcome is recorded may be made again, under its key. A recorded one never may."""
    brokers: int = 1
    code: str = "first"
    """What the code is in the beginning, see `job.py`."""
    is_short: bool = False
    """Whether it belongs to the set that every run of the tests includes."""
