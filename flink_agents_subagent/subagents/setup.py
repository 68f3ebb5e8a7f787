"""What every kind of sub-agent is: a resource that can be described, opened, submitted to and closed. Must not know how a call is made."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import ContextMisuseError, DefinitionError
from flink_agents_subagent.resources import Resource
from flink_agents_subagent.subagents.future import SubagentFuture

__all__ = ["SubagentSetup"]

_OWN_FOLDER = str(Path(__file__).parent)


class SubagentSetup(Resource, ABC):
    """A sub-agent: what is registered as a resource of type `AGENT`, and what a caller submits to.

    Subclass one of the bases that say how a call is made. A subclass with its own constructor passes on what it does
    not use itself.

    Guarantee: opened once per subtask before the first call, closed once after the last (`Resource`).
    Thread: task thread, but for what a base class says of the methods to implement.
    """

    CALLABLE_NAME_PREFIX: ClassVar[str] = "subagent_"
    """What the name of a sub-agent begins with when a chat model sees it as a callable."""

    # Class attributes, so that a subclass may set them in its body, or not call this constructor at all.
    description: str | None = None
    input_schema: Mapping[str, Any] | str | None = None
    input_type: Any = None
    result_type: Any = None

    def __init__(
        self,
        *,
        description: str | None = None,
        input_schema: Mapping[str, Any] | str | None = None,
        input_type: Any = None,
        result_type: Any = None,
    ) -> None:
        """Describe the sub-agent.

        Args:
            description: What it does, for a chat model that may call it.
            input_schema: JSON schema of the prompt, an object or its text; kept as it is, and stronger than `input_type`.
            input_type: Type of the prompt, from which a schema can be made.
            result_type: Type of the result.

        Raises:
            DefinitionError: Description or schema is blank, or the schema is no JSON object.
        """
        given = {
            "description": description,
            "input_schema": input_schema,
            "input_type": input_type,
            "result_type": result_type,
        }
        for attribute, value in given.items():
            if value is not None:
                setattr(self, attribute, value)
        check_description(type(self).__qualname__, self.description, self.input_schema)

    @abstractmethod
    def submit(
        self,
        ctx: RunnerContext,
        prompt: Any,
        session_id: str | None = None,
        timeout: timedelta | float | None = None,
        *,
        call_id: str | None = None,
    ) -> SubagentFuture:
        """Start a call and return its handle at once.

        Guarantee: one outcome per call id, journalled; a failure of the sub-agent is a failed result (V1).
        Replay: a call with a journalled outcome is not made again; another prompt in its place is a mismatch (D4).
        Thread: task thread, in an `async def` action only.

        Args:
            ctx: The context of the action.
            prompt: Any value that the journal can encode (E3.3).
            session_id: Continues a conversation; None starts one. The order of turns is guaranteed only within the runs of
                one key and one awaiting task (D2).
            timeout: Seconds or a timedelta, for the whole call; then the result is a failed one with reason `timeout`.
            call_id: For implementors: an identity of their own making, which must be the same on replay.

        Raises:
            NotExpressibleError: The prompt, with the path of what cannot be encoded.
            ContextMisuseError: The action is a `def`, or the context belongs to another execution.
        """


def check_description(owner: str, description: object, input_schema: object) -> None:
    """Refuse a blank description and a schema that is blank or no JSON object (R2, T13).

    Raises:
        DefinitionError: Names `owner` and what is wrong.
    """
    if description is not None and (not isinstance(description, str) or not description.strip()):
        raise DefinitionError(f"{owner} has the description {description!r}; give a text that is not blank, or none")
    if input_schema is None:
        return
    schema = input_schema
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            raise DefinitionError(f"the input schema of {owner} is no JSON: {error}") from error
    if not isinstance(schema, Mapping) or not schema:
        raise DefinitionError(
            f"the input schema of {owner} is {input_schema!r}; give a JSON schema as an object that is not empty"
        )


def line_of_submit() -> str:
    """Return `file:line` of the code that called into this package: the source line of the `submit` (I4)."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def milliseconds(timeout: timedelta | float | None) -> int | None:
    """Return a timeout in whole milliseconds, at least 1.

    Raises:
        ContextMisuseError: It is not positive.
    """
    if timeout is None:
        return None
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not seconds > 0:
        raise ContextMisuseError(
            f"the timeout of a sub-agent call is {timeout!r}; give seconds or a timedelta above zero, or None"
        )
    return max(1, round(seconds * 1000))
