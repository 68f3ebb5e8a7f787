"""A chat model as an agent uses it: connection, model, prompt, and what it may call. Must not know conversations."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any, NamedTuple

from flink_agents_subagent.chat.connection import BaseChatModelConnection
from flink_agents_subagent.chat.delegation import Delegations
from flink_agents_subagent.chat.message import ChatMessage, ToolMetadata, chained
from flink_agents_subagent.chat.output import OutputSchema
from flink_agents_subagent.chat.prompt import Prompt
from flink_agents_subagent.chat.tool import FromConfig, Tool
from flink_agents_subagent.context import CallSpec, DurableHandle, RetryPolicy, RunnerContext
from flink_agents_subagent.errors import (
    ChatModelError,
    ChatModelUnavailableError,
    ContextMisuseError,
    DefinitionError,
    NotExpressibleError,
)
from flink_agents_subagent.resources import Resource, ResourceType
from flink_agents_subagent.subagents.normalization import normalize
from flink_agents_subagent.subagents.times import milliseconds

__all__ = ["BaseChatModelSetup"]


class _Offer(NamedTuple):
    """Callables as a model is told of them."""

    callables: tuple[ToolMetadata, ...]
    digest: str
    """Stands for them in fingerprints, so that they are not gone through at every call."""


class BaseChatModelSetup(Resource):
    """A chat model that agents ask by its name: a resource of type `CHAT_MODEL`.

    Usable as it is; subclass it to fix or compute what it is made of.

    Guarantee: opened once per subtask; then the model is offered its tools, and after them its sub-agents as `subagent_<name>`
        (T1). Opening again offers the same, once (T11).
    Replay: a recorded answer is not asked for again; other messages, callables or parameters in its place are a mismatch (E3.7).
    Thread: task thread.
    """

    def __init__(  # noqa: PLR0913 - everything a model is described with; all but two by name, each on its own
        self,
        connection: str,
        model: str,
        prompt: Prompt | str | None = None,
        tools: Sequence[str] = (),
        subagents: Sequence[str] = (),
        *,
        retry: RetryPolicy | None = RetryPolicy(),  # noqa: B008 - frozen
        timeout: timedelta | float | None = None,
        tool_timeout: timedelta | float | None = None,
        tool_config: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Describe the model.

        Args:
            connection: Name of the resource of type `CHAT_MODEL_CONNECTION`.
            model: The provider's name of the model.
            prompt: Messages that every request begins with, or the name of a resource of type `PROMPT`.
            tools: Names of resources of type `TOOL` that it may call.
            subagents: Names of resources of type `AGENT` that it may call.
            retry: How a call that fails is repeated. Of what may be repeated, `retry_on` chooses; left as it is, that is
                `ChatModelUnavailableError`. Never sooner than the provider's `retry_after` says. None: not at all.
            timeout: Seconds or a timedelta for one call of the model with all its attempts; None: no limit.
            tool_timeout: For a tool that has none of its own; None: the option `tool-call.timeout`.
            tool_config: Values of the tools' arguments that are marked `FromConfig`.
            kwargs: Handed to the provider with each call, as in `temperature=0`; JSON values.

        Raises:
            DefinitionError: An argument cannot work; names it.
        """
        self.connection = _named("connection", connection)
        self.model = _named("model", model)
        if prompt is not None and not isinstance(prompt, Prompt):
            _named("prompt", prompt)
        self.prompt = prompt
        self.tools = _names("tools", tools)
        self.subagents = _names("subagents", subagents)
        if retry is not None and not isinstance(retry, RetryPolicy):
            raise DefinitionError(f"retry of a chat model is {retry!r}; give a RetryPolicy, or None")
        self.retry = retry
        try:
            self._timeout_ms = milliseconds(timeout, "the timeout of a chat model")
            self._tool_timeout_ms = milliseconds(tool_timeout, "the tool_timeout of a chat model")
            self.kwargs: dict[str, Any] = normalize(kwargs, "kwargs")
        except (ContextMisuseError, NotExpressibleError) as error:
            raise DefinitionError(f"chat model {model!r} cannot be used: {error}") from error
        self.tool_config = dict(tool_config or {})

    # Opening

    def bind_resources(self, find: Callable[[str, ResourceType], Any]) -> None:
        """See `Resource.bind_resources`."""
        self._find = find

    def open(self) -> None:
        """Find what the model is made of, and what it may call.

        Raises:
            DefinitionError: A resource is missing or of the wrong kind, or two callables have one name; names it (T13).
        """
        self._connection = self._found(self.connection, ResourceType.CHAT_MODEL_CONNECTION, BaseChatModelConnection)
        self._prompt = (
            self._found(self.prompt, ResourceType.PROMPT, Prompt) if isinstance(self.prompt, str) else self.prompt
        )
        tools = [self._found(name, ResourceType.TOOL, Tool) for name in self.tools]
        for tool in tools:
            self._check_config(tool)
        self.delegations = Delegations(self.name, self.subagents, self._find)
        told = [tool.metadata for tool in tools]
        self._check_unique([it.name for it in (*told, *self.delegations.callables)])
        self._tools = {tool.name: tool for tool in tools}
        self._offers = _offer([*told, *self.delegations.callables]), _offer(told)

    def _found(self, name: str, kind: ResourceType, wanted: type[Any]) -> Any:
        found = self._find(name, kind)
        if not isinstance(found, wanted):
            raise DefinitionError(
                f"chat model {self.name!r} uses the {kind.value} {name!r}, which is a {type(found).__qualname__} and no {wanted.__qualname__}"
            )
        return found

    def _check_config(self, tool: Tool) -> None:
        for argument, source in tool.injected.items():
            is_given = not isinstance(source, FromConfig) or source.name in self.tool_config
            if not is_given and not tool.has_default(argument):
                raise DefinitionError(
                    f"tool {tool.name!r} takes {argument!r} from the configuration {source!r}, which chat model {self.name!r} does not "
                    f"have; its tool_config has {sorted(self.tool_config) or 'nothing'}"
                )

    def _check_unique(self, names: Sequence[str]) -> None:
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise DefinitionError(
                f"chat model {self.name!r} offers {', '.join(map(repr, repeated))} more than once; name each tool and sub-agent once"
            )

    # Asking

    def callables(self, ctx: RunnerContext) -> tuple[ToolMetadata, ...]:
        """Return what the model is offered at this place: no sub-agents at the depth limit (T16)."""
        return self._offered(ctx).callables

    def prompt_messages(self, arguments: Mapping[str, Any]) -> list[ChatMessage]:
        """Return the messages that a request begins with.

        Raises:
            DefinitionError: A placeholder has no value.
        """
        return [] if self._prompt is None else self._prompt.format_messages(arguments)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names that the `prompt_arguments` of a request must have."""
        return () if self._prompt is None else self._prompt.placeholders

    def tool(self, name: str) -> Tool | None:
        """Return a tool that the model may call."""
        return self._tools.get(name)

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that the model may call."""
        return list(self._tools)

    def timeout_ms_of(self, tool: Tool, default_ms: int) -> int:
        """Return how long a call of a tool may take."""
        return tool.timeout_ms or self._tool_timeout_ms or default_ms

    def ask(
        self,
        ctx: RunnerContext,
        messages: Sequence[ChatMessage],
        output: OutputSchema | None = None,
        digest: str | None = None,
    ) -> DurableHandle[ChatMessage]:
        """Call the model durably (C2).

        Guarantee: one recorded answer, or one recorded exception when the attempts are used up.
        Thread: task thread, in an `async def` action only.

        Args:
            ctx: Of the action that asks.
            messages: The conversation so far, oldest first.
            output: What the answer shall be; None: text.
            digest: That of `messages`, from `chained`, if it is known; None: it is computed.
        """
        if digest is None:
            digest = chained(ctx._fingerprint, messages)
        offer = self._offered(ctx)
        kwargs = {**self.kwargs, "model": self.model}
        if output is not None:
            kwargs["output_schema"] = dict(output.schema)
        asked = tuple(messages)
        call = functools.partial(self._chat, asked, offer.callables, kwargs, str(ctx.uuid4()))
        is_coroutine = inspect.iscoroutinefunction(self._connection.chat)
        return ctx._open_call(
            CallSpec(
                func=functools.partial(_awaited, call) if is_coroutine else call,
                function_id=f"chat:{self.name}",
                fingerprint=ctx._fingerprint(digest, offer.digest, kwargs),
                is_coroutine=is_coroutine,
                timeout_ms=self._timeout_ms,
                retry=_restricted(self.retry),
                label=f"chat:{self.name}",
                # Not the parameters, which are settings of the model.
                arguments={"messages": asked},
                used=_tokens,
            )
        )

    def _offered(self, ctx: RunnerContext) -> _Offer:
        return self._offers[0 if ctx._subagent_depth_left() >= 1 else 1]

    def _chat(
        self,
        messages: Sequence[ChatMessage],
        callables: Sequence[ToolMetadata],
        kwargs: Mapping[str, Any],
        call_id: str,
    ) -> Any:
        answer = self._connection.chat(messages, callables, **kwargs, call_id=call_id)
        return answer if inspect.isawaitable(answer) else _checked(answer)


async def _awaited(call: Callable[[], Any]) -> ChatMessage:
    return _checked(await call())


def _tokens(answer: ChatMessage) -> Mapping[str, int]:
    """Return what an answer cost by the provider's own count; nothing where it does not say."""
    usage = answer.extra_args.get("usage")
    if not isinstance(usage, Mapping):
        return {}
    counted = {name: usage.get(name) for name in ("input_tokens", "output_tokens")}
    return {name: amount for name, amount in counted.items() if isinstance(amount, int)}


def _checked(answer: Any) -> ChatMessage:
    if not isinstance(answer, ChatMessage):
        raise ChatModelError(f"the connection answered with a {type(answer).__qualname__}, which is no ChatMessage")
    return answer


def _restricted(retry: RetryPolicy | None) -> RetryPolicy | None:
    """Return the policy for what is worth another attempt."""
    if retry is None or retry.retry_on != (Exception,):
        return retry
    return replace(retry, retry_on=(ChatModelUnavailableError,))


def _offer(callables: Sequence[ToolMetadata]) -> _Offer:
    told = json.dumps([asdict(it) for it in callables], sort_keys=True, default=str)
    return _Offer(tuple(callables), hashlib.blake2b(told.encode(), digest_size=16).hexdigest())


def _named(what: str, name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise DefinitionError(f"{what} of a chat model is {name!r}; give a name that is not blank")
    return name


def _names(what: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(it, str) for it in names):
        raise DefinitionError(f"{what} of a chat model are {names!r}; give a list of names of resources")
    return tuple(names)
