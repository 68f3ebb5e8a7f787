"""Small agents as data: statements that an interpreter runs as the bodies of actions (E8.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Action", "AllOf", "AsCompleted", "Ask", "Batch", "Branch", "Call", "Cancel", "Chance", "Child", "Count", "DefCall", "Detach", "Exclusive",
    "Finally", "FirstOf", "Forget", "Gather", "Job", "Join", "Now", "Output", "Parallel", "Program", "Raise", "Recall", "Remember",
    "Send", "Sleep", "Statement", "Try", "WaitFor",
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """`await ctx.durable_execute_async(...)`."""

    tag: int
    is_blocking: bool = False
    takes_ms: int = 0
    fails: int = 0
    """How many of its invocations raise; 9: all."""
    has_reconciler: bool = False
    timeout_ms: int | None = None
    attempts: int = 1
    is_caught: bool = True


@dataclass(frozen=True)
class DefCall:
    """`ctx.durable_execute(...)` in a `def` action."""

    tag: int
    fails: int = 0
    has_reconciler: bool = False
    is_caught: bool = True


@dataclass(frozen=True)
class Ask:
    """Submit to the sub-agent, and await or cancel the handles."""

    prompts: int
    takes_ms: int = 0
    is_cancelled: bool = False


@dataclass(frozen=True)
class Job:
    """Submit to the asynchronous sub-agent, and await the handles, cancel them at once or later, or leave all but the first."""

    prompts: int
    probes: int = 1
    """After so many the run has completed."""
    timeout_ms: int | None = None
    ends: Literal["await", "cancel", "later", "any"] = "await"


@dataclass(frozen=True)
class Child:
    """Submit to the agent inside, and await the handles, cancel them at once or later, or leave all but the first."""

    prompts: int
    timeout_ms: int | None = None
    ends: Literal["await", "cancel", "later", "any"] = "await"


@dataclass(frozen=True)
class Gather:
    """`asyncio.gather` of calls."""

    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Batch:
    """`ctx.durable_execute_all_async`."""

    calls: tuple[Call, ...]
    limit: int | None


@dataclass(frozen=True)
class FirstOf:
    """`asyncio.wait` for the first of several calls; the others are cancelled."""

    calls: tuple[Call, ...]


@dataclass(frozen=True)
class AllOf:
    """`asyncio.wait` for all of several tasks, which shows in which order a set holds them."""

    calls: tuple[Call, ...]


@dataclass(frozen=True)
class AsCompleted:
    """`ctx.as_completed` over calls."""

    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Detach:
    """Start a call, await it later or never."""

    call: Call


@dataclass(frozen=True)
class Join:
    """Await the detached calls; or cancel them."""

    is_cancelled: bool = False


@dataclass(frozen=True)
class Sleep:
    """`asyncio.sleep`."""

    ms: int


@dataclass(frozen=True)
class WaitFor:
    """`asyncio.wait_for` over statements."""

    ms: int
    body: Body


@dataclass(frozen=True)
class Cancel:
    """Run statements as a task, and cancel it after a while."""

    ms: int
    body: Body


@dataclass(frozen=True)
class Parallel:
    """Run lists of statements at the same time."""

    bodies: tuple[Body, ...]


@dataclass(frozen=True)
class Exclusive:
    """Run statements under the action's lock."""

    body: Body


@dataclass(frozen=True)
class Try:
    """Run statements and catch what they raise."""

    body: Body


@dataclass(frozen=True)
class Finally:
    """Run statements, and others whatever happens."""

    body: Body
    cleanup: Body


@dataclass(frozen=True)
class Branch:
    """Run one or the other, depending on what has happened so far."""

    yes: Body
    no: Body


@dataclass(frozen=True)
class Raise:
    """Raise an exception."""


@dataclass(frozen=True)
class Remember:
    """Write memory."""

    path: str
    is_sensory: bool = False


@dataclass(frozen=True)
class Recall:
    """Read memory."""

    path: str
    is_sensory: bool = False


@dataclass(frozen=True)
class Forget:
    """Remove memory."""

    path: str


@dataclass(frozen=True)
class Count:
    """Add one to a number in memory."""

    path: str


@dataclass(frozen=True)
class Output:
    """Send an output that shows everything that has happened so far."""


@dataclass(frozen=True)
class Send:
    """Send an event to the other actions."""


@dataclass(frozen=True)
class Now:
    """`ctx.now()`."""


@dataclass(frozen=True)
class Chance:
    """`ctx.random()` and `ctx.uuid4()`."""


Statement: TypeAlias = (
    AllOf | AsCompleted | Ask | Batch | Branch | Call | Cancel | Chance | Child | Count | DefCall | Detach | Exclusive | Finally | FirstOf
    | Forget | Gather | Job | Join | Now | Output | Parallel | Raise | Recall | Remember | Send | Sleep | Try | WaitFor
)  # fmt: skip
Body: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True)
class Action:
    """One action."""

    body: Body
    is_async: bool = True


@dataclass(frozen=True)
class Program:
    """An agent and its inputs."""

    on_input: tuple[Action, ...]
    on_event: tuple[Action, ...]
    inputs: tuple[tuple[str, int], ...]
    in_child: tuple[Action, ...] = ()
    """What the agent inside does with its input; it finds itself as its own caller does."""
    in_child_on_event: tuple[Action, ...] = ()
    is_pure: bool = False
    """Whether functions give the same answer however often they are called."""
