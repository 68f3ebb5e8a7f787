"""Sub-agents that a chat model may call: which are offered and how (T1–T4, T13), and what their results become (T8–T10, T14).

Must not know conversations or tools.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flink_agents_subagent.chat.message import ToolCall, ToolMetadata
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.chat.tool import CALLABLE_NAME
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import DefinitionError, EngineError, NotExpressibleError
from flink_agents_subagent.resources import ResourceType
from flink_agents_subagent.subagents.future import SubagentFuture
from flink_agents_subagent.subagents.normalization import normalize
from flink_agents_subagent.subagents.offer import check_offered
from flink_agents_subagent.subagents.result import SubagentResult
from flink_agents_subagent.subagents.setup import SubagentSetup

__all__ = ["DELEGATION_MARK", "PREFIX", "Delegation", "Delegations", "response_of"]

_logger = logging.getLogger(__name__)

PREFIX = SubagentSetup.CALLABLE_NAME_PREFIX
DELEGATION_MARK = "Calling this delegates the task to another agent, which works on its own and returns its result."
"""Ends the description of every sub-agent that a model is offered (T3)."""


class Delegations:
    """The sub-agents of one chat model.

    Guarantee: made once per opening, from the `subagents` of the model alone; a call finds no other sub-agent.
    Thread: task thread.
    """

    def __init__(self, model: str, names: Sequence[str], find: Callable[[str, ResourceType], Any]) -> None:
        """Look at each sub-agent; one without a schema of an object is left out with a warning (T2).

        Raises:
            DefinitionError: A name is no sub-agent, or is a Java class; or an input type cannot be rendered (T13).
        """
        self._model = model
        self._setups: dict[str, SubagentSetup] = {}
        self._left_out: list[str] = []
        self.callables: list[ToolMetadata] = []
        """What the model is told, in the order of the names."""
        for name in names:
            self._add(name, find(name, ResourceType.AGENT))

    def _add(self, name: str, setup: Any) -> None:
        check_offered(self._model, [name], {name: setup})
        if not isinstance(setup, SubagentSetup):
            raise DefinitionError(
                f"chat model {self._model!r} offers the sub-agent {name!r}, which is a {type(setup).__qualname__} and no SubagentSetup"
            )
        schema = setup.offered_schema()
        if schema is None:
            self._left_out.append(name)
            _logger.warning(
                "chat model %r is not offered the sub-agent %r: it has neither an input_schema nor an input_type that is an object",
                self._model,
                name,
            )
            return
        if not CALLABLE_NAME.fullmatch(PREFIX + name):
            raise DefinitionError(
                f"chat model {self._model!r} offers the sub-agent {name!r}, which providers would refuse as {PREFIX + name!r}; use at most 64 "
                "of the letters a-z and A-Z, digits, _ and -"
            )
        self._setups[name] = setup
        self.callables.append(ToolMetadata(PREFIX + name, _description(name, setup), schema))

    def submit(self, ctx: RunnerContext, call: ToolCall) -> ToolResponse | Delegation:
        """Hand the model's arguments over, unchanged (T7); what forbids it is the answer (T10).

        Args:
            ctx: Of the tool action.
            call: Its name has the prefix, which is cut once (T5).
        """
        name = call.name.removeprefix(PREFIX)
        setup = self._setups.get(name)
        if setup is None:
            return ToolResponse.error(self._refusal(name))
        if ctx._subagent_depth_left() < 1:
            return ToolResponse.error(
                f"sub-agent {name!r} is not called: sub-agents are nested as deep as subagent.max-depth allows"
            )
        try:
            return Delegation(name, setup, setup.submit(ctx, dict(call.arguments)))
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - the sub-agent's own code, and the model is told (T10)
            return _absorbed(name, error)

    def _refusal(self, name: str) -> str:
        if name in self._left_out:
            return f"sub-agent {name!r} cannot be called by a model: it has no input schema"
        offered = ", ".join(repr(PREFIX + known) for known in self._setups) or "none"
        return f"there is no sub-agent {name!r}; offered are: {offered}"


class Delegation(NamedTuple):
    """A sub-agent that was submitted to."""

    name: str
    setup: SubagentSetup
    future: SubagentFuture

    async def response(self) -> ToolResponse:
        """Wait for the result and return it as the model gets it.

        Raises:
            EngineError: The engine failed; that is no answer (T10).
            asyncio.CancelledError: The call was cancelled; neither is that.
        """
        try:
            result = await self.future
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - a system failure of the sub-agent, and the model is told (T10)
            return _absorbed(self.name, error)
        return response_of(result, self.setup.result_type)


def response_of(result: SubagentResult, result_type: Any = None) -> ToolResponse:
    """Return a sub-agent's result as a model gets it (T8, T9).

    Args:
        result: What the sub-agent answered.
        result_type: What it declares; narrows the result. None: the result as it arrived.
    """
    if not result.is_success:
        return ToolResponse.error(result.error_message or "the sub-agent failed without a reason")
    try:
        plain = normalize(result.result, "result")
        if result_type is not None:
            plain = normalize(result.get_result(result_type), "result", result_type)
    except NotExpressibleError as error:
        return ToolResponse.error(str(error))
    return ToolResponse(is_success=True, result=plain)


def _absorbed(name: str, error: Exception) -> ToolResponse:
    _logger.warning("delegation failed", exc_info=error, extra={"subagent": name})
    return ToolResponse.error(error)


def _description(name: str, setup: SubagentSetup) -> str:
    own = (setup.description or f"The sub-agent {name}.").strip()
    return f"{own} {DELEGATION_MARK}"
