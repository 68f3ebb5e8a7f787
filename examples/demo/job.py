"""A job as a user would write it: an agent per destination watches flights and sends for help when one is disrupted.

Submit it with `flink run -py examples/demo/job.py -- --flights FILE --desks URL --output FOLDER --store FOLDER`.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from pyflink.common import Types
from pyflink.common.serialization import Encoder
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from pyflink.java_gateway import get_gateway

from flink_agents_subagent import (
    Agent,
    AgentsExecutionEnvironment,
    BaseDeferredSubagentSetup,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RunnerContext,
    SubagentFutures,
    SubagentRequest,
    action,
)


class Desk(BaseDeferredSubagentSetup):
    """A sub-agent behind HTTP that books something for the passengers of a disrupted flight."""

    def __init__(self, *, url: str) -> None:
        super().__init__(timeout=60)
        self._url = url

    async def open(self) -> None:
        """Make the client, on the loop that will make the calls."""
        self._client = httpx.AsyncClient(timeout=30, limits=httpx.Limits(max_connections=None))

    async def close(self) -> None:
        """Close the client's connections."""
        await self._client.aclose()

    async def call(self, request: SubagentRequest) -> Any:
        """Ask for the booking; the key lets the desk recognise a request that it has seen before."""
        headers = {"Idempotency-Key": request.call_id, "Content-Type": "application/json"}
        content = json.dumps(request.prompt, sort_keys=True)
        response = await self._client.post(self._url, content=content, headers=headers)
        response.raise_for_status()
        return response.json()


class DestinationWatch(Agent):
    """Keeps the totals of a destination, and has seats and rooms booked when a flight to it is disrupted."""

    @action(InputEvent)
    async def watch(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Count the flight; for a disrupted one wait for the desks and count what they booked."""
        flight = json.loads(event.input)
        count(ctx, "flights", 1)
        count(ctx, "delay_minutes", max(0, flight["arrival_delay"] or 0))
        output = {"flight": flight["id"], "destination": ctx.key}
        reason = why_disrupted(flight)
        if reason:
            disrupted = count(ctx, "disrupted", 1)
            needed = ["seats", "rooms"] if reason == "cancelled" else ["seats"]
            prompt = {**output, "reason": reason, "disrupted": disrupted}
            desks = [ctx.get_resource(name, ResourceType.AGENT) for name in needed]
            bookings = await SubagentFutures(*(desk.submit(ctx, prompt) for desk in desks)).await_all()
            for name, booking in zip(needed, bookings, strict=True):
                count(ctx, name, booking.get_result()["number"] % 100)
                output[f"{name}_confirmation"] = booking.get_result()["confirmation"]
        totals = {name: count(ctx, name, 0) for name in ("flights", "delay_minutes", "disrupted", "seats", "rooms")}
        ctx.send_event(OutputEvent(output={**output, **totals}))


def count(ctx: RunnerContext, name: str, amount: int) -> int:
    """Add to a total of the destination and return it."""
    total: int = ctx.short_term_memory.get(name, 0) + amount
    ctx.short_term_memory.set(name, total)
    return total


def why_disrupted(flight: dict[str, Any]) -> str | None:
    """Return what happened to a flight that left its passengers stranded, None for any other."""
    if flight["departure_delay"] is None:
        return "cancelled"
    if flight["arrival_delay"] is None:
        return "diverted"
    return "late" if flight["arrival_delay"] >= 120 else None


def read_flights(file: Path) -> list[dict[str, Any]]:
    """Read the flights of a CSV file, in its order; a delay that was not measured is None."""
    with file.open(encoding="utf-8", newline="") as rows:
        return [
            {
                "id": "{scheduled} {carrier}{number} {origin}".format_map(row),
                "destination": row["destination"],
                "departure_delay": int(row["departure_delay"]) if row["departure_delay"] else None,
                "arrival_delay": int(row["arrival_delay"]) if row["arrival_delay"] else None,
            }
            for row in csv.DictReader(rows)
        ]


def paced(env: StreamExecutionEnvironment, texts: Sequence[str], per_second: float) -> DataStream:
    """Return a stream of the texts that come at a pace, as events do; after a failure it goes on where it was."""
    flink = get_gateway().jvm.org.apache.flink
    j_env, text = env._j_stream_execution_environment, Types.STRING().get_java_type_info()
    elements = flink.connector.datagen.functions.FromElementsGeneratorFunction(text, j_env.getConfig(), list(texts))
    pace = flink.api.connector.source.util.ratelimit.RateLimiterStrategy.perSecond(per_second)
    source = flink.connector.datagen.source.DataGeneratorSource(elements, len(texts), pace, text)
    watermarks = flink.api.common.eventtime.WatermarkStrategy.noWatermarks()
    return DataStream(j_env.fromSource(source, watermarks, "flights", text).setParallelism(1))


def main() -> None:
    """Build the job and submit it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flights", type=Path, required=True, help="CSV file of flights")
    parser.add_argument("--per-second", type=float, default=100, help="flights a second")
    parser.add_argument("--checkpoint-ms", type=int, default=1000, help="time between checkpoints; 0: none")
    parser.add_argument("--desks", required=True, help="address of the desks")
    parser.add_argument("--output", type=Path, required=True, help="folder of the output files")
    parser.add_argument("--store", type=Path, required=True, help="folder of the action-state store")
    options = parser.parse_args()

    stream_env = StreamExecutionEnvironment.get_execution_environment()
    if options.checkpoint_ms:
        stream_env.enable_checkpointing(options.checkpoint_ms)
    flights = paced(stream_env, [json.dumps(flight) for flight in read_flights(options.flights)], options.per_second)

    env = AgentsExecutionEnvironment.get_execution_environment(stream_env)
    env.set_option("store.embedded.dir", str(options.store))
    # So that the demo can tell in the end what was recorded when; a job of yours does well with the default.
    env.set_option("store.retained-checkpoints", 1_000_000)
    agent = DestinationWatch()
    for name in ("seats", "rooms"):
        desk = ResourceDescriptor(clazz=Desk, url=f"{options.desks}/{name}")
        agent.add_resource(name, ResourceType.AGENT, desk)
    outputs = env.from_datastream(flights, key_field="destination").apply(agent).to_json_datastream()
    files = FileSink.for_row_format(str(options.output), Encoder.simple_string_encoder())
    outputs.sink_to(files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build())
    env.execute("destination-watch")


if __name__ == "__main__":
    main()
