"""The digest that stands for a conversation in fingerprints."""

from __future__ import annotations

import hashlib
from typing import Any

from flink_agents_subagent._engine.encoding import ValueCodec, canonical
from flink_agents_subagent._engine.encoding.registry import TypeRegistry
from flink_agents_subagent._engine.memory import MemoryBuffer, MemoryView
from flink_agents_subagent.chat import ChatMessage, MessageRole, ToolCall
from flink_agents_subagent.chat.conversation import Conversation
from flink_agents_subagent.chat.message import chained
from flink_agents_subagent.chat.response import ToolResponse

QUESTION = ChatMessage(MessageRole.USER, "what is it?")
CALL = ChatMessage(MessageRole.ASSISTANT, tool_calls=(ToolCall("1", "look", {"at": "it"}),))


def fingerprint(*values: Any) -> bytes:
    """Return what the context of an action returns."""
    return hashlib.blake2b(canonical(values, strict=True), digest_size=16).digest()


def memory() -> MemoryView:
    """Return the sensory memory of a run."""
    codec = ValueCodec(TypeRegistry({}), allow_pickle=False)
    return MemoryView(MemoryBuffer(codec, None, {}), "", lambda: None)


def test_a_kept_digest_is_the_one_computed_afresh() -> None:
    """A digest that grew with the conversation, in several actions, is that of all its messages at once [C2, E3.7]."""
    kept = memory()
    begun = Conversation.begin(kept, "r", "model", [QUESTION], None)
    assert begun.digest(fingerprint) == chained(fingerprint, [QUESTION])
    begun.add(CALL)
    found = Conversation.find(kept, "r")
    assert found is not None
    found.add_responses([ToolResponse.success("a thing")])
    assert found.digest(fingerprint) == chained(fingerprint, found.messages)
    assert found.digest(fingerprint) == chained(fingerprint, found.messages)


def test_a_digest_depends_on_every_message_and_their_order() -> None:
    """Another first message, another last one, one less and another order each give another digest [E3.7]."""
    other = ChatMessage(MessageRole.USER, "what was it?")
    conversations = [[QUESTION, CALL], [other, CALL], [QUESTION, other], [QUESTION], [CALL, QUESTION], []]
    assert len({chained(fingerprint, messages) for messages in conversations}) == len(conversations)


def test_calls_before_the_request_are_no_rounds() -> None:
    """Only what the model wants called in the request itself counts against the limit of rounds [C3]."""
    conversation = Conversation.begin(memory(), "r", "model", [QUESTION, CALL], None)
    assert conversation.rounds == 0
    conversation.add(CALL)
    conversation.add(ChatMessage(MessageRole.TOOL, "a thing", tool_call_id="1"))
    conversation.add(CALL)
    assert conversation.rounds == 2
