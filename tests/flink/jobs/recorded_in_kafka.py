"""A job whose calls are recorded in Kafka: `recorded_in_kafka.py <output folder> <effect server> <brokers> <inputs>`."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

from pyflink.common.serialization import Encoder
from pyflink.datastream.connectors.file_system import FileSink

from examples.demo.job import paced
from flink_agents_subagent import Agent, AgentsExecutionEnvironment, InputEvent, OutputEvent, action

OUTPUT, EFFECTS, BROKERS, INPUTS = sys.argv[1:5]


def ask(url: str, key: str) -> int:
    """Have the effect server count a call."""
    request = urllib.request.Request(url, data=key.encode(), headers={"Idempotency-Key": key}, method="POST")  # noqa: S310 - the test's own server
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        number: int = json.loads(response.read())["number"]
    return number


class Asking(Agent):
    """Makes two calls for each input, the second after the first."""

    @action(InputEvent)
    @staticmethod
    async def receive(event: InputEvent, ctx: Any) -> None:
        """Call twice."""
        name = json.loads(event.input)["name"]
        first = await ctx.durable_execute_async(ask, f"{EFFECTS}/first", f"{name} first")
        second = await ctx.durable_execute_async(ask, f"{EFFECTS}/second", f"{name} second")
        ctx.send_event(OutputEvent(output=[name, first, second]))


def main() -> None:
    """Send the inputs through the agent."""
    env = AgentsExecutionEnvironment.get_execution_environment()
    env.set_option("action-state-store", "kafka")
    env.set_option("store.kafka.bootstrap-servers", BROKERS)
    env.set_option("job-identifier", "recorded")
    flink = env.stream_environment
    flink.enable_checkpointing(1000)
    texts = [json.dumps({"key": f"key_{number % 17}", "name": f"input {number}"}) for number in range(int(INPUTS))]
    outputs = env.from_datastream(paced(flink, texts, 60.0), key_field="key").apply(Asking())
    sink = FileSink.for_row_format(OUTPUT, Encoder.simple_string_encoder()).build()
    outputs.to_json_datastream().sink_to(sink)
    env.execute("recorded-in-kafka")


if __name__ == "__main__":
    main()
