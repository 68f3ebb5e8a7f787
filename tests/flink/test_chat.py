"""Chat requests in Flink: a failure in the middle of a round of tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flink_agents_subagent import (
    BaseDeferredSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentRequest,
    action,
)
from flink_agents_subagent.chat import (
    BaseChatModelSetup,
    ChatMessage,
    ChatRequestEvent,
    ChatResponseEvent,
    MessageRole,
    ToolCall,
    tool,
)
from flink_agents_subagent.testing import ScriptedModel
from tests.flink.agents import Scripted
from tests.flink.board import Board, ask, ask_async
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until

pytestmark = pytest.mark.flink


class Helper(BaseDeferredSubagentSetup):
    """Asks the board under the name in its prompt."""

    async def call(self, request: SubagentRequest) -> Any:
        """Ask."""
        return {"helper": await ask_async(request.prompt["name"])}


class BoardModel(ScriptedModel):
    """Reports each call of the model to the board, too."""

    def __init__(self) -> None:
        second = [
            ToolCall("2", "look_async", {"name": "slow tool"}),
            ToolCall("3", "subagent_helper", {"name": "helper"}),
            ToolCall("4", "subagent_helper", {"name": "slow helper"}),
        ]
        first = ToolCall("1", "look", {"name": "tool"})
        super().__init__([first, second, lambda messages: ", ".join(it.content for it in messages if it.tool_call_id)])

    async def chat(self, messages: Any, tools: Any, **kwargs: Any) -> ChatMessage:
        """Report, then answer."""
        await ask_async(f"model {len(messages)}")
        return await super().chat(messages, tools, **kwargs)


class Chatting(Scripted):
    """Asks a model that calls tools and sub-agents; other inputs do what they say."""

    def __init__(self) -> None:
        super().__init__("chatting")
        self.add_resource("board", ResourceType.CHAT_MODEL_CONNECTION, ResourceDescriptor(clazz=BoardModel))
        # One at a time: the second is asked when the first is recorded.
        helper = ResourceDescriptor(clazz=Helper, input_type=dict[str, str], max_concurrency=1)
        self.add_resource("helper", ResourceType.AGENT, helper)
        model = ResourceDescriptor(
            clazz=BaseChatModelSetup,
            connection="board",
            model="tiny",
            tools=["look", "look_async"],
            subagents=["helper"],
        )
        self.add_resource("model", ResourceType.CHAT_MODEL, model)

    @action(InputEvent, where=lambda event: json.loads(event.input).get("chat") is not None)
    @staticmethod
    async def chat(event: InputEvent, ctx: RunnerContext) -> None:
        """Ask the model."""
        said = ChatMessage(MessageRole.USER, json.loads(event.input)["chat"])
        ctx.send_event(ChatRequestEvent(model="model", messages=[said]))

    @action(ChatResponseEvent)
    @staticmethod
    def answered(event: ChatResponseEvent, ctx: RunnerContext) -> None:
        """Send on what it answered."""
        ctx.send_event(OutputEvent(output=event.text))

    @tool
    @staticmethod
    def look(name: str) -> str:
        """Look at the board."""
        return ask(name)

    @tool
    @staticmethod
    async def look_async(name: str) -> str:
        """Look at the board."""
        return await ask_async(name)


def test_a_failure_in_the_middle_of_a_round_repeats_nothing_that_is_recorded(
    cluster: MiniCluster, board: Board, folder: Folder
) -> None:
    """Model, tool and sub-agent are not asked again; what was in flight is, and all answers come in order [C2, T15, E4.5]."""
    for name in ("slow tool", "slow helper"):
        board.hold(name)
    folder.feed({"key": "a", "id": 1, "do": [], "chat": "go"})
    job = Job.run(cluster, folder, Chatting())
    for name in ("slow tool", "slow helper"):
        board.wait_asked(name)
    job.checkpoint()

    restarts = job.restarts()
    board.answer("poison", "fail")
    folder.feed({"key": "poison", "id": 0, "do": [["fail_if_told", "poison"]]})
    until(lambda: job.restarts() > restarts, "a restart")
    for name in ("slow tool", "slow helper"):
        board.wait_asked(name, 2)
        board.release(name)
    outputs = job.commit(folder, 1)
    job.cancel()

    assert outputs == ['ok, ok, {"helper":"ok"}, {"helper":"ok"}']
    once = ("model 1", "model 3", "model 7", "tool", "helper")
    assert {name: board.asked(name) for name in once} == dict.fromkeys(once, 1)
    assert [board.asked(name) for name in ("slow tool", "slow helper")] == [2, 2]
