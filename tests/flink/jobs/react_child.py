"""A job with a ReAct agent inside: `react_child.py <output folder> <store folder> <effect server> <inputs as JSON>`.

Each input has the child's tool called in three rounds. Whatever the child calls, it asks the effect server: at a path that names input, kind
and round, with all that it knows as the key. More inputs, which nobody asks, keep the job going for five minutes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Sequence

import httpx
from pyflink.common.serialization import Encoder
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy

from examples.demo.job import paced
from flink_agents_subagent import (
    Agent,
    AgentsExecutionEnvironment,
    DurableHandle,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    action,
)
from flink_agents_subagent.chat import (
    BaseChatModelSetup,
    ChatMessage,
    ChatResponseEvent,
    ReActAgent,
    Tool,
    ToolCall,
    ToolResponseEvent,
)
from flink_agents_subagent.testing import ScriptedModel

OUTPUT, STORE, EFFECTS, INPUTS = sys.argv[1:5]

_PATIENCE_S = 120.0
"""Longer than a request is held on a slow machine."""


# At the end of its input a job would wait for the calls under way, and take no checkpoint.
_MORE = [{"name": "nobody asks"}] * 3000


async def tell(path: str, known: str) -> str:
    """Have the effect server count a call, and return what it confirms."""
    async with httpx.AsyncClient(timeout=_PATIENCE_S) as client:
        response = await client.post(f"{EFFECTS}{path}", content=path, headers={"Idempotency-Key": known})
    response.raise_for_status()
    return str(response.json()["confirmation"])


async def look(name: str, number: int) -> str:
    """Look something up."""
    return await tell(f"/{name}/look/{number}", f"{name} {number}")


def said(messages: Sequence[ChatMessage]) -> str:
    """Return the whole conversation as one line."""
    return ", ".join(f"{message.role.value} {message.content or message.tool_calls[0].id}" for message in messages)


def turn(number: int) -> Callable[[Sequence[ChatMessage]], Awaitable[ToolCall | str]]:
    """Return the model's part of a round, which ends the conversation in the fourth."""

    async def speak(messages: Sequence[ChatMessage]) -> ToolCall | str:
        name = messages[0].content
        await tell(f"/{name}/model/{number}", said(messages))
        if number > 3:
            return f"I know: {said(messages)}"
        return ToolCall(f"call {number}", "look", {"name": name, "number": number})

    return speak


class Remembering(ReActAgent):
    """Keeps in its memory what its tool has said, and tells that at the end."""

    @action(InputEvent)
    def begin(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Remember what it is about."""
        ctx.short_term_memory.set("name", event.input)

    @action(ToolResponseEvent)
    def remember(self, event: ToolResponseEvent, ctx: RunnerContext) -> None:
        """Remember one round more."""
        found = [response.text for response in event.responses]
        ctx.short_term_memory.set("found", [*ctx.short_term_memory.get("found", []), *found])

    @action(ChatResponseEvent)
    async def tell_memory(self, event: ChatResponseEvent, ctx: RunnerContext) -> None:
        """Tell all that it remembers."""
        name, found = (ctx.short_term_memory.get(it) for it in ("name", "found"))
        call: DurableHandle[str] = ctx.durable_execute_async(tell, f"/{name}/memory", " ".join(found))
        await call


def asks(event: InputEvent) -> bool:
    """Tell the inputs that are meant from those that keep the job going."""
    return bool(json.loads(event.input) != _MORE[0])


class Asking(Agent):
    """Submits each input to the child, and has a memory of its own under the same name."""

    def __init__(self) -> None:
        super().__init__()
        model = ResourceDescriptor(clazz=BaseChatModelSetup, connection="script", model="script-1", tools=["look"])
        child = Remembering(model, name="child")
        script = ScriptedModel([turn(number) for number in (1, 2, 3, 4)])
        child.add_resource("script", ResourceType.CHAT_MODEL_CONNECTION, script)
        child.add_resource("look", ResourceType.TOOL, Tool.from_callable(look))
        self.add_resource("child", ResourceType.AGENT, child)

    @action(InputEvent, where=asks)
    @staticmethod
    async def ask(event: InputEvent, ctx: RunnerContext) -> None:
        """Submit, and send the answer on."""
        name = json.loads(event.input)["name"]
        ctx.short_term_memory.set("found", "nothing")
        result = await ctx.get_resource("child", ResourceType.AGENT).submit(ctx, name)
        ctx.send_event(OutputEvent(output=[name, result.get_result(), ctx.short_term_memory.get("found")]))


def main() -> None:
    """Send the inputs through the agent."""
    env = AgentsExecutionEnvironment.get_execution_environment()
    env.set_option("store.embedded.dir", STORE)
    flink = env.stream_environment
    flink.enable_checkpointing(500)
    texts = [json.dumps(each) for each in [*({"name": name} for name in json.loads(INPUTS)), *_MORE]]
    outputs = env.from_datastream(paced(flink, texts, 10.0), key_field="name").apply(Asking())
    sink = FileSink.for_row_format(OUTPUT, Encoder.simple_string_encoder())
    # The policy by default leaves a file open for a minute.
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    outputs.to_json_datastream().sink_to(sink.build())
    env.execute("react-child")


if __name__ == "__main__":
    main()
