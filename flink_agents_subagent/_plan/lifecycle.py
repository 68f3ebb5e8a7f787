"""When resources are opened and closed (R3). Owns the order; must not know threads or loops, which the host brings."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import Resource, ResourceType
from flink_agents_subagent.subagents.internal import InternalSubagent

__all__ = ["ResourceLifecycle", "all_resources"]

_logger = logging.getLogger(__name__)

RunAsync = Callable[[Coroutine[Any, Any, None]], None]
Resources = Mapping[tuple[str, ResourceType], Any]


def all_resources(
    resources: Resources, owners: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Resource]]:
    """Go through what can be opened, in the order of declaration, each instance once: those of an agent inside come before the agent.

    Yields:
        The names of the sub-agents within which it is registered, a text for messages, and the resource.
    """
    seen: set[int] = set()
    for found in _nested(resources, owners):
        if id(found[2]) not in seen:
            seen.add(id(found[2]))
            yield found


def _nested(resources: Resources, owners: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, Resource]]:
    for (name, resource_type), resource in resources.items():
        if isinstance(resource, InternalSubagent):
            yield from _nested(resource.agent.resources, (*owners, name))
        if isinstance(resource, Resource):
            inside = "".join(f"sub-agent {owner!r}: " for owner in owners)
            yield owners, f"{inside}resource {name!r} ({resource_type.value})", resource


class ResourceLifecycle:
    """Opens the resources of one subtask in the order of declaration and closes them in reverse.

    Guarantee: each is opened once and closed once; one whose `open` failed is closed too. Those of agents inside are among them.
    Thread: task thread.
    """

    def __init__(self, resources: Resources, run_async: RunAsync) -> None:
        """Take the resources.

        Args:
            resources: Those that are no `Resource` are left alone.
            run_async: Runs a coroutine on the background loop and returns when it is done, raising what it raises.
        """
        self._resources = resources
        self._run_async = run_async
        self._touched: list[tuple[str, Resource]] = []

    def open(self) -> None:
        """Open all; after a failure those that were touched are closed before it is raised.

        Raises:
            DefinitionError: An `open` failed; names the resource, the cause is its exception.
        """
        for _, shown, resource in all_resources(self._resources):
            self._touched.append((shown, resource))
            try:
                self._run(resource.open())
            except Exception as error:
                self.close()
                raise DefinitionError(f"{shown} cannot be opened: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Close what was opened, in reverse; a failing `close` is logged and does not keep the others from closing."""
        while self._touched:
            shown, resource = self._touched.pop()
            try:
                self._run(resource.close())
            except BaseException:
                _logger.warning("%s cannot be closed", shown, exc_info=True)

    def _run(self, result: Awaitable[None] | None) -> None:
        if inspect.isawaitable(result):
            self._run_async(_as_coroutine(result))


async def _as_coroutine(awaitable: Awaitable[None]) -> None:
    await awaitable
