"""The conversation of one chat request, in sensory memory (decision 0014). Must not know models or tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from flink_agents_subagent.chat.message import ChatMessage, MessageRole, ToolCall, chained, packed, unpacked
from flink_agents_subagent.chat.output import OutputSchema
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.errors import ContextMisuseError
from flink_agents_subagent.memory import MemoryObject

__all__ = ["Conversation"]

_ROOT = "__chat__"


class Conversation:
    """What was said in a request.

    Guarantee: an entry of memory for each message, so that a round writes what it adds; nothing is left after `end`.
    Replay: as of sensory memory.
    Thread: task thread.
    """

    def __init__(self, memory: MemoryObject, request_id: str, head: Sequence[Any]) -> None:
        """Use `begin` or `find`."""
        self._memory = memory
        self._path = _path(request_id)
        self.request_id = request_id
        self.model: str
        self.output: OutputSchema | None
        self.model, self.output, self._given = head
        self.messages: list[ChatMessage] = []
        """All that was said, oldest first. Add with `add`."""

    @classmethod
    def begin(
        cls,
        memory: MemoryObject,
        request_id: str,
        model: str,
        messages: Sequence[ChatMessage],
        output: OutputSchema | None,
    ) -> Conversation:
        """Begin the conversation of a request.

        Raises:
            ContextMisuseError: One with this id is open in the run.
        """
        path = _path(request_id)
        if memory.is_exist(path):
            raise ContextMisuseError(
                f"a chat request {request_id!r} is open in this run; give each request an id of its own, or none"
            )
        # A list, which is read again several times faster than an object.
        head = [model, output, len(messages)]
        memory.set(f"{path}.head", head)
        conversation = cls(memory, request_id, head)
        for message in messages:
            conversation.add(message)
        return conversation

    @classmethod
    def find(cls, memory: MemoryObject, request_id: str) -> Conversation | None:
        """Return the open conversation of a request; None when there is none."""
        path = _path(request_id)
        head = memory.get(f"{path}.head")
        if head is None:
            return None
        conversation = cls(memory, request_id, head)
        said = memory.get(f"{path}.said")
        conversation.messages += [] if said is None else map(unpacked, said.get_fields().values())
        return conversation

    def add(self, message: ChatMessage) -> None:
        """Add what was said."""
        # Seven digits sort as text as they do as numbers.
        self._memory.set(f"{self._path}.said.{len(self.messages):07}", packed(message))
        self.messages.append(message)

    def digest(self, fingerprint: Callable[..., bytes]) -> str:
        """Return what stands for all that was said in fingerprints; only what was said since the last call is gone through.

        Replay: the same, whether it was kept or not: that of a message follows from it and from the one before alone.
        """
        # One text, which memory keeps as it is; a list it would encode.
        before: str = self._memory.get(f"{self._path}.digest", "0 ")
        count, _, digest = before.partition(" ")
        digest = chained(fingerprint, self.messages[int(count) :], digest)
        self._memory.set(f"{self._path}.digest", f"{len(self.messages)} {digest}")
        return digest

    def add_responses(self, responses: Sequence[ToolResponse]) -> None:
        """Add the answers to the calls of the last message, in their order."""
        for call, response in zip(self.open_calls, responses, strict=True):
            failed = {} if response.is_success else {"is_error": True}
            self.add(ChatMessage(MessageRole.TOOL, response.text, tool_call_id=call.id, extra_args=failed))

    @property
    def open_calls(self) -> Sequence[ToolCall]:
        """What the model wants called and nobody has answered."""
        return self.messages[-1].tool_calls if self.messages else ()

    @property
    def rounds(self) -> int:
        """How often the model has wanted something called in this request."""
        return sum(1 for message in self.messages[self._given :] if message.tool_calls)

    def may_correct(self) -> bool:
        """Tell once whether the model may mend an answer that does not fit."""
        if self._memory.is_exist(f"{self._path}.corrected"):
            return False
        self._memory.set(f"{self._path}.corrected", True)
        return True

    def end(self) -> None:
        """Forget everything."""
        self._memory.remove(self._path)


def _path(request_id: str) -> str:
    # A dot would begin another name.
    return f"{_ROOT}.{quote(request_id, safe='').replace('.', '%2E')}"
