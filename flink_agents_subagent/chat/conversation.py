"""The conversation of one chat request, in sensory memory (decision 0014). Must not know models or tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from flink_agents_subagent.chat.message import ChatMessage, MessageRole, ToolCall, packed, unpacked
from flink_agents_subagent.chat.output import OutputSchema
from flink_agents_subagent.chat.response import ToolResponse
from flink_agents_subagent.errors import ContextMisuseError
from flink_agents_subagent.memory import MemoryObject

__all__ = ["Conversation"]

_ROOT = "__chat__"


@dataclass(frozen=True, slots=True)
class _Head:
    """What does not change."""

    model: str
    output: OutputSchema | None


class Conversation:
    """What was said in a request.

    Guarantee: an entry of memory for each message, so that a round writes what it adds; nothing is left after `end`.
    Replay: as of sensory memory.
    Thread: task thread.
    """

    def __init__(self, memory: MemoryObject, request_id: str, head: _Head) -> None:
        """Use `begin` or `find`."""
        self._memory = memory
        self._path = _path(request_id)
        self.request_id = request_id
        self.model = head.model
        self.output = head.output
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
        head = _Head(model, output)
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

    def add_responses(self, responses: Sequence[ToolResponse]) -> None:
        """Add the answers to the calls of the last message, in their order."""
        for call, response in zip(self.open_calls, responses, strict=True):
            failed = {} if response.is_success else {"is_error": True}
            self.add(ChatMessage(MessageRole.TOOL, response.text, tool_call_id=call.id, extra_args=failed))

    @property
    def open_calls(self) -> Sequence[ToolCall]:
        """What the model wants called and nobody has answered."""
        return self.messages[-1].tool_calls if self.messages else ()

    def next_round(self) -> int:
        """Count a round of tool calls, and return its number from 1."""
        number: int = self._memory.get(f"{self._path}.rounds", 0) + 1
        self._memory.set(f"{self._path}.rounds", number)
        return number

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
