"""The built-in actions of chat requests (C2, C3): one talks to the model, one calls what it asks for. Owns the loop between them."""

from __future__ import annotations

from typing import Any

from flink_agents_subagent.actions import ActionDefinition
from flink_agents_subagent.chat.call import answer_calls
from flink_agents_subagent.chat.conversation import Conversation
from flink_agents_subagent.chat.event import (
    ChatFailure,
    ChatRequestEvent,
    ChatResponseEvent,
    ToolRequestEvent,
    ToolResponseEvent,
)
from flink_agents_subagent.chat.message import ChatMessage, MessageRole
from flink_agents_subagent.chat.output import OutputMisfit, read_output
from flink_agents_subagent.chat.setup import BaseChatModelSetup
from flink_agents_subagent.context import RunnerContext
from flink_agents_subagent.errors import DefinitionError, EngineError
from flink_agents_subagent.resources import ResourceType
from flink_agents_subagent.subagents.result import SubagentResult

__all__ = ["builtin_actions", "run_chat", "run_tools"]


def builtin_actions() -> tuple[ActionDefinition, ...]:
    """Return the actions of every plan in which a chat model is visible."""
    return (
        ActionDefinition("__chat__", run_chat, (ChatRequestEvent, ToolResponseEvent)),
        ActionDefinition("__tools__", run_tools, (ToolRequestEvent,)),
    )


async def run_chat(event: ChatRequestEvent | ToolResponseEvent, ctx: RunnerContext) -> None:
    """Ask the model, at the beginning of a request and after each round of calls, until it wants nothing called (C2).

    Answers to a `ToolRequestEvent` that an action of the author's has sent belong to that action, and are left alone.
    """
    memory = ctx.sensory_memory
    if isinstance(event, ChatRequestEvent):
        setup = _setup(ctx, event.model)
        messages = [*setup.prompt_messages(event.prompt_arguments), *event.messages]
        request_id = event.request_id or str(ctx.uuid4())
        conversation = Conversation.begin(memory, request_id, event.model, messages, event.output_schema)
    else:
        found = Conversation.find(memory, event.request_id)
        if found is None:
            return
        conversation, setup = found, _setup(ctx, found.model)
        conversation.add_responses(event.responses)
    await _go_on(ctx, setup, conversation)


async def run_tools(event: ToolRequestEvent, ctx: RunnerContext) -> None:
    """Call the tools and sub-agents that a model asked for (C2, T15)."""
    responses = await answer_calls(ctx, _setup(ctx, event.model), event.calls)
    ctx.send_event(ToolResponseEvent(request_id=event.request_id, responses=responses))


async def _go_on(ctx: RunnerContext, setup: BaseChatModelSetup, conversation: Conversation) -> None:
    while True:
        digest = conversation.digest(ctx._fingerprint)
        handle = setup.ask(ctx, conversation.messages, conversation.output, digest)
        try:
            answer = await handle
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - recorded: what the provider's call came to in the end
            _fail(ctx, conversation, "model", SubagentResult.error(error).error_message or "")
            return
        conversation.add(answer)
        if answer.tool_calls:
            _call(ctx, conversation)
            return
        try:
            output = _output(ctx, conversation, answer)
        except OutputMisfit as misfit:
            if not conversation.may_correct():
                _fail(ctx, conversation, "output", f"the model's answer does not fit the output schema: {misfit}")
                return
            conversation.add(_correction(misfit))
            continue
        conversation.end()
        ctx.send_event(ChatResponseEvent(request_id=conversation.request_id, response=answer, output=output))
        return


def _call(ctx: RunnerContext, conversation: Conversation) -> None:
    limit = ctx._chat_limits().max_tool_rounds
    if conversation.rounds > limit:
        _fail(ctx, conversation, "rounds", f"the model went on asking for tools after max-tool-rounds = {limit} rounds")
        return
    calls = list(conversation.open_calls)
    ctx.send_event(ToolRequestEvent(request_id=conversation.request_id, model=conversation.model, calls=calls))


def _output(ctx: RunnerContext, conversation: Conversation, answer: ChatMessage) -> Any:
    wanted = conversation.output
    if wanted is None:
        return None
    return read_output(answer.content, wanted, None if wanted.type_name is None else ctx._find_type(wanted.type_name))


def _correction(misfit: OutputMisfit) -> ChatMessage:
    return ChatMessage(
        MessageRole.USER,
        f"Your answer does not fit the required JSON schema: {misfit}. Answer again, with the JSON alone.",
    )


def _fail(ctx: RunnerContext, conversation: Conversation, reason: ChatFailure, error: str) -> None:
    conversation.end()
    ctx.send_event(ChatResponseEvent(request_id=conversation.request_id, reason=reason, error=error))


def _setup(ctx: RunnerContext, model: str) -> BaseChatModelSetup:
    found = ctx.get_resource(model, ResourceType.CHAT_MODEL)
    if not isinstance(found, BaseChatModelSetup):
        raise DefinitionError(
            f"chat model {model!r} is a {type(found).__qualname__}, which is no BaseChatModelSetup; register one, with a connection"
        )
    return found
