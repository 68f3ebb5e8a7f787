"""A ReAct agent inside another on Flink: what a failure in its third round repeats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from flink_agents_subagent import InputEvent, OutputEvent, ResourceDescriptor, ResourceType, RunnerContext, action
from flink_agents_subagent.chat import (
    BaseChatModelConnection,
    BaseChatModelSetup,
    ChatMessage,
    MessageRole,
    ReActAgent,
    Tool,
    ToolCall,
    ToolMetadata,
)
from tests.flink.agents import Scripted
from tests.flink.board import Board, ask_async
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until

pytestmark = pytest.mark.flink

_ROUNDS = 3


class BoardModel(BaseChatModelConnection):
    """Has a tool called in three rounds, and then says all that was said; tells the board of each call."""

    async def chat(self, messages: Sequence[ChatMessage], tools: Sequence[ToolMetadata], **kwargs: Any) -> ChatMessage:
        """Answer."""
        turn = 1 + sum(message.role is MessageRole.ASSISTANT for message in messages)
        what = messages[0].content
        await ask_async(f"{what} model {turn}")
        if turn <= _ROUNDS:
            call = ToolCall(str(turn), tools[0].name, {"what": what, "number": turn})
            return ChatMessage(MessageRole.ASSISTANT, tool_calls=[call])
        return ChatMessage(MessageRole.ASSISTANT, " ".join(message.content or "calls" for message in messages))


async def look(what: str, number: int) -> str:
    """Look something up; the board says when."""
    return f"{number}={await ask_async(f'{what} look {number}')}"


def asks(event: InputEvent) -> bool:
    """Tell inputs for the child from those that say what to do."""
    return "ask" in json.loads(event.input)


class Asking(Scripted):
    """Has a ReAct agent inside, to which it submits what an input asks."""

    def __init__(self) -> None:
        super().__init__("asking")
        model = ResourceDescriptor(clazz=BaseChatModelSetup, connection="board", model="board-1", tools=["look"])
        child = ReActAgent(model, name="child")
        child.add_resource("board", ResourceType.CHAT_MODEL_CONNECTION, ResourceDescriptor(clazz=BoardModel))
        child.add_resource("look", ResourceType.TOOL, ResourceDescriptor(clazz=Tool, func=look))
        self.add_resource("child", ResourceType.AGENT, child)

    @action(InputEvent, where=asks)
    @staticmethod
    async def ask_child(event: InputEvent, ctx: RunnerContext) -> None:
        """Submit, and send the answer on."""
        result = await ctx.get_resource("child", ResourceType.AGENT).submit(ctx, json.loads(event.input)["ask"])
        ctx.send_event(OutputEvent(output=result.get_result()))


@pytest.mark.parametrize("checkpointed", ["in-round-3", "before"])
def test_a_failure_in_round_three_of_a_child_repeats_no_earlier_round(
    cluster: MiniCluster, board: Board, folder: Folder, checkpointed: str
) -> None:
    """Whether the rounds lie in the checkpoint or in the store alone: neither model nor tool of rounds 1 and 2 is called again, and the answer holds the whole conversation [A5, N2, N3, E4.1, E4.3]."""
    what = f"react-{checkpointed}"
    board.hold(f"{what} look 3")
    job = Job.run(cluster, folder, Asking())
    if checkpointed == "before":
        folder.feed({"key": "b", "id": 1, "do": [["emit", "first"]]})
        assert job.commit(folder, 1) == ["b 1 first"]
    folder.feed({"key": "a", "id": 2, "do": [], "ask": what})
    board.wait_asked(f"{what} look 3")
    if checkpointed == "in-round-3":
        job.checkpoint()

    restarts = job.restarts()
    board.answer("poison", "fail")
    folder.feed({"key": "poison", "id": 0, "do": [["fail_if_told", "poison"]]})
    until(lambda: job.restarts() > restarts, "a restart")
    board.wait_asked(f"{what} look 3", 2)
    board.release(f"{what} look 3")
    outputs = job.commit(folder, 2 if checkpointed == "before" else 1)
    job.cancel()

    assert outputs[-1] == f"{what} calls 1=ok calls 2=ok calls 3=ok"
    asked = {name: board.asked(f"{what} {name}") for name in ("model 1", "look 1", "model 2", "look 2", "model 3")}
    assert asked == dict.fromkeys(asked, 1)
    assert (board.asked(f"{what} look 3"), board.asked(f"{what} model 4")) == (2, 1)
