"""What every kind of sub-agent is: a resource that can be described, opened, submitted to and closed. Must not know how a call is made."""

from __future__ import annotations

import copy
import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from typing_extensions import TypedDict, Unpack

from flink_agents_subagent.context import CallLane, CallSpec, DurableHandle, RetryPolicy, RunnerContext
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.resources import Resource
from flink_agents_subagent.subagents.future import SubagentFuture
from flink_agents_subagent.subagents.request import SubagentRequest
from flink_agents_subagent.subagents.result import SubagentResult
from flink_agents_subagent.subagents.schema import schema_offered

__all__ = ["SubagentArguments", "SubagentSetup"]

_OWN_FOLDERS = tuple(str(Path(__file__).parent.parent / name) for name in ("subagents", "integrations"))


class SubagentArguments(TypedDict, total=False):
    """What every sub-agent is described with; see the attributes of `SubagentSetup`."""

    description: str | None
    input_schema: Mapping[str, Any] | str | None
    input_type: Any
    result_type: Any
    max_concurrency: int | None
    rate_limit: float | None
    max_calls_per_run: int | None


class Submission(NamedTuple):
    """A call that is about to be made, or was refused."""

    request: SubagentRequest
    fingerprint: bytes
    must_be_awaited: str
    """What to say when nobody awaits it (I4)."""
    refused: SubagentFuture | None
    """The handle of a call that a limit forbids."""


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
    """What it does, for a chat model that may call it."""
    input_schema: Mapping[str, Any] | str | None = None
    """JSON schema of the prompt, an object or its text; kept as it is, and stronger than `input_type`."""
    input_type: Any = None
    """Type of the prompt, from which a schema can be made."""
    result_type: Any = None
    """Type of the result."""
    max_concurrency: int | None = None
    """Calls per subtask at a time, each from its start until its outcome; the others wait in order. None: no limit."""
    rate_limit: float | None = None
    """Calls per subtask that start in a second, evenly spaced; the others wait in order. None: no limit."""
    _offered_schema: Mapping[str, Any] | None = None
    max_calls_per_run: int | None = None
    """Calls that a run may make; a further one gives a failed result with reason `limit` (G2). None: only
    `subagent.max-calls-per-run` counts."""

    def __init__(self, **arguments: Unpack[SubagentArguments]) -> None:
        """Describe the sub-agent; the arguments are the attributes of these names.

        Raises:
            DefinitionError: Description or schema is blank, the schema is no JSON object, or a limit is none.
            TypeError: There is no such argument.
        """
        self._take_arguments(arguments, SubagentArguments)

    def _take_arguments(self, arguments: Mapping[str, Any], known: Any) -> None:
        """Set the attributes that are given; None leaves what the class says."""
        unknown = sorted(arguments.keys() - known.__optional_keys__)
        if unknown:
            raise TypeError(
                f"{type(self).__qualname__} takes no argument {', '.join(map(repr, unknown))}; "
                f"it takes {', '.join(sorted(known.__optional_keys__))}"
            )
        for attribute, value in arguments.items():
            if value is not None:
                setattr(self, attribute, value)
        check_description(type(self).__qualname__, self.description, self.input_schema)
        check_limits(self)
        self.offered_schema()

    def offered_schema(self) -> Mapping[str, Any] | None:
        """Return the JSON schema that a chat model is offered: the explicit one, else that of the input type (T4).

        None: there is neither, or the input type is no object, and the sub-agent is not offered (T2).

        Raises:
            DefinitionError: The input type cannot be rendered, or refers to itself (T13).
        """
        # An explicit schema wins whenever it was set.
        if self._offered_schema is None or self.input_schema is not None:
            self._offered_schema = schema_offered(type(self).__qualname__, self.input_schema, self.input_type)
        return self._offered_schema

    def take_offered_schema(self, schema: Mapping[str, Any]) -> None:
        """Take the schema that the plan carries; called by the framework before `open`."""
        self._offered_schema = schema

    def _lane(self) -> CallLane | None:
        """Return the queue of its calls; None when nothing limits them."""
        if self.max_concurrency is None and self.rate_limit is None:
            return None
        return CallLane(self.name, self.max_concurrency, self.rate_limit)

    def check_prompt(self, prompt: Any) -> None:
        """Refuse a prompt that this sub-agent cannot send; asked at each `submit`, before anything is reserved.

        Replay: asked again, so that it must depend on the prompt alone.
        Thread: task thread.

        Raises:
            NotExpressibleError: Names the path of what cannot be sent.
        """

    def _prepare(self, ctx: RunnerContext, prompt: Any, session_id: str | None, call_id: str | None) -> Submission:
        """Find out what the next call is, and whether the run may still make it."""
        self.check_prompt(prompt)
        fingerprint = ctx._fingerprint(self.name, prompt)
        identity = ctx._subagent_identity(self.name, session_id)
        # Copied, because the call starts later and the action may go on to change what it passed.
        request = SubagentRequest(copy.deepcopy(prompt), identity.session_id, call_id or identity.call_id)
        must_be_awaited = f"sub-agent {self.name!r}, submitted at {line_of_submit()}"
        refusal = ctx._admit_subagent(self.name, self.max_calls_per_run)
        if refusal is None:
            return Submission(request, fingerprint, must_be_awaited, None)
        handle = ctx._settled_call(SubagentResult.error(refusal, "limit"), must_be_awaited)
        return Submission(request, fingerprint, must_be_awaited, _future(handle, request))

    def _open(self, ctx: RunnerContext, spec: CallSpec, request: SubagentRequest) -> SubagentFuture:
        return _future(ctx._open_call(spec), request)

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
    try:
        json.dumps(dict(schema), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"the input schema of {owner} holds what JSON cannot express: {error}") from error


def check_limits(setup: SubagentSetup) -> None:
    """Refuse limits that would let no call through.

    Raises:
        DefinitionError: Names the class, the limit and its value.
    """
    for name in ("max_concurrency", "rate_limit", "max_calls_per_run"):
        limit = getattr(setup, name)
        if limit is None:
            continue
        is_whole = isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1
        is_rate = name == "rate_limit" and isinstance(limit, float) and 0 < limit < math.inf
        if not is_whole and not is_rate:
            kind = "a number of calls per second above 0" if name == "rate_limit" else "a whole number from 1"
            raise DefinitionError(
                f"{name} of {type(setup).__qualname__} is {limit!r}; give {kind}, or None for no limit"
            )


def check_retry(setup: SubagentSetup, retry: object) -> None:
    """Refuse what is no policy.

    Raises:
        DefinitionError: Names the class and the value.
    """
    if retry is not None and not isinstance(retry, RetryPolicy):
        raise DefinitionError(
            f"retry of {type(setup).__qualname__} is {retry!r}; give a RetryPolicy, as in RetryPolicy(max_attempts=3), or None"
        )


def _future(handle: DurableHandle[SubagentResult], request: SubagentRequest) -> SubagentFuture:
    return SubagentFuture(handle, request.session_id, request.call_id)


def line_of_submit() -> str:
    """Return `file:line` of the code that called into this package: the source line of the `submit` (I4)."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDERS):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
