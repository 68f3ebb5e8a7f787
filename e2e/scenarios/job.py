"""The job of all scenarios: `job.py <file>`, a JSON object made by `submission`.

For each order an agent asks desks, each call of another kind: `a` through a deferred sub-agent, then at the same time `b` by a blocking
function and `c` by one with a reconciler (which code `c-first` asks from the beginning), and for some orders `d` by an action that runs in one go. Each desk is a path of the effect server.
Each call is known in the journal by the idempotency key that the desk gets.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import httpx
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.serialization import Encoder
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from pyflink.java_gateway import get_gateway

from flink_agents_subagent import (
    Agent,
    AgentsExecutionEnvironment,
    BaseDeferredSubagentSetup,
    DurableHandle,
    Event,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentRequest,
    action,
)

SPEC: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
DESKS: str = SPEC["desks"]
SEEN: str = SPEC["seen"]
CODE: str = SPEC["code"]
PATIENCE_S = 600
"""Desks are held while processes are started anew."""
IS_ORDER_FREE: bool = SPEC["order_free"]


class Desk(BaseDeferredSubagentSetup):
    """Asks a desk by a coroutine."""

    def __init__(self, *, url: str) -> None:
        super().__init__(timeout=PATIENCE_S)
        self._url = url

    async def open(self) -> None:
        """Make the client."""
        self._client = httpx.AsyncClient(timeout=PATIENCE_S, limits=httpx.Limits(max_connections=None))

    async def close(self) -> None:
        """Close the client."""
        await self._client.aclose()

    async def call(self, request: SubagentRequest) -> Any:
        """Ask; the call id is the idempotency key."""
        headers = {"Idempotency-Key": request.call_id}
        content = json.dumps(request.prompt, sort_keys=True)
        response = await self._client.post(self._url, content=content, headers=headers)
        response.raise_for_status()
        return response.json()


def post(url: str, key: str, content: str) -> dict[str, Any]:
    """Send a request and return what the answer says."""
    request = urllib.request.Request(url, data=content.encode(), headers={"Idempotency-Key": key}, method="POST")
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
        answer: dict[str, Any] = json.loads(response.read())
    return answer


def ask(desk: str, key: str, content: str, padding: int) -> dict[str, Any]:
    """Ask a desk; the answer is made longer by so many bytes that cannot be packed."""
    answer = post(f"{DESKS}/{desk}", key, content)
    blocks = (hashlib.sha512(f"{key}{number}".encode()).hexdigest() for number in range(padding // 128))
    return {**answer, "padding": "".join(blocks)}


def look_up(desk: str, key: str, content: str, padding: int) -> dict[str, Any]:
    """Return what a desk has answered to the key; ask it if it knows nothing of it."""
    return post(SEEN, "", key) or ask(desk, key, content, padding)


class Booked(Event):
    """The desks have answered."""

    order: dict[str, Any]
    number: int
    answers: dict[str, str]


class Orders(Agent):
    """Counts the orders of a key and asks the desks about each."""

    @action(InputEvent)
    @staticmethod
    async def take(event: InputEvent, ctx: RunnerContext) -> None:
        """Ask the first desk, then two at a time."""
        order = json.loads(event.input)
        number = ctx.short_term_memory.get("orders", 0) + 1
        ctx.short_term_memory.set("orders", number)
        early = call(ctx, order, number, "c") if CODE == "c-first" else None
        desk = ctx.get_resource("a", ResourceType.AGENT)
        seats = await desk.submit(ctx, content(order, number, "a"))
        answers = {"a": seats.get_result()["confirmation"]}
        if CODE == "patched" and ctx.patched("ask-e"):
            answers["e"] = (await call(ctx, order, number, "e"))["confirmation"]
        second = "x" if CODE == "incompatible" else "b"
        asked = (call(ctx, order, number, second), early or call(ctx, order, number, "c"))
        got = [await handle for handle in asked] if CODE == "compatible" else list(await asyncio.gather(*asked))
        for name, answer in zip((second, "c"), got, strict=True):
            answers[name] = answer["confirmation"]
        await asyncio.sleep(order["nap"])
        ctx.send_event(Booked(order=order, number=number, answers=answers))

    @action(Booked)
    @staticmethod
    def settle(event: Booked, ctx: RunnerContext) -> None:
        """Ask the last desk, in one go, and send the output."""
        order, answers = event.order, dict(event.answers)
        if order["settles"]:
            key = str(ctx.uuid4())
            text = json.dumps(content(order, event.number, "d"), sort_keys=True)
            answers["d"] = ctx.durable_execute(ask, "d", key, text, 0, durable_id=f"d:{key}")["confirmation"]
        output = {"key": ctx.key, "order": order["id"], "number": event.number, "answers": answers}
        ctx.send_event(OutputEvent(output=output))


def content(order: dict[str, Any], number: int, desk: str) -> dict[str, Any]:
    """Return what a desk is asked."""
    counted = {} if IS_ORDER_FREE else {"number": number}
    return {"order": order["id"], "desk": desk, **counted}


def call(ctx: RunnerContext, order: dict[str, Any], number: int, desk: str) -> DurableHandle[dict[str, Any]]:
    """Ask a desk by a blocking function; about desk `c` a reconciler knows."""
    key = str(ctx.uuid4())
    text = json.dumps(content(order, number, desk), sort_keys=True)
    reconciler = functools.partial(look_up, desk, key, text, order["padding"]) if desk == "c" else None
    return ctx.durable_execute_async(
        ask, desk, key, text, order["padding"], durable_id=f"{desk}:{key}", reconciler=reconciler
    )


def orders(env: StreamExecutionEnvironment) -> DataStream:
    """Return the stream of orders: at a pace from one file, or as they appear in a folder."""
    place = Path(SPEC["inputs"])
    if place.is_dir():
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(place))
        watched = source.monitor_continuously(Duration.of_millis(100)).build()
        return env.from_source(watched, WatermarkStrategy.no_watermarks(), "orders").uid("orders").set_parallelism(1)
    flink, text = get_gateway().jvm.org.apache.flink, Types.STRING().get_java_type_info()
    j_env, lines = env._j_stream_execution_environment, place.read_text(encoding="utf-8").splitlines()
    elements = flink.connector.datagen.functions.FromElementsGeneratorFunction(text, j_env.getConfig(), lines)
    pace = flink.api.connector.source.util.ratelimit.RateLimiterStrategy.perSecond(float(SPEC["per_second"]))
    generated = flink.connector.datagen.source.DataGeneratorSource(elements, len(lines), pace, text)
    watermarks = flink.api.common.eventtime.WatermarkStrategy.noWatermarks()
    return DataStream(j_env.fromSource(generated, watermarks, "orders", text).uid("orders").setParallelism(1))


def main() -> None:
    """Build the job and submit it."""
    flink = StreamExecutionEnvironment.get_execution_environment()
    flink.enable_checkpointing(SPEC["checkpoint_ms"])
    env = AgentsExecutionEnvironment.get_execution_environment(flink)
    for name, value in SPEC["options"].items():
        env.set_option(name, value)
    agent = Orders()
    agent.add_resource("a", ResourceType.AGENT, ResourceDescriptor(clazz=Desk, url=f"{DESKS}/a"))
    outputs = env.from_datastream(orders(flink), key_field="key").apply(agent).to_json_datastream()
    files = FileSink.for_row_format(SPEC["outputs"], Encoder.simple_string_encoder())
    sink = files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    outputs.sink_to(sink).uid("outputs").set_parallelism(1)
    env.execute(SPEC["name"])


if __name__ == "__main__":
    main()
