"""A job that has work done by services: `remote_runs.py <output folder> <store folder> <services as JSON> <inputs> <per second>`.

The services are addresses by name. The one called `calls` answers at once, the others have runs, for which the one called `impatience` allows
three seconds. Each input goes to all of them.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta

from pyflink.common.serialization import Encoder
from pyflink.datastream.connectors.file_system import FileSink

from examples.demo.job import paced
from flink_agents_subagent import (
    Agent,
    AgentsExecutionEnvironment,
    InputEvent,
    OutputEvent,
    ResourceDescriptor,
    ResourceType,
    RetryPolicy,
    RunnerContext,
    SubagentFutures,
    action,
)
from flink_agents_subagent.integrations.http_jobs import HttpJobSubagent, HttpSubagent

# Services fail again and again here; that is no reason to give up on them.
_RETRY = RetryPolicy(max_attempts=50, initial=timedelta(milliseconds=50), max_interval=timedelta(seconds=1))

_PATIENCE_S = 120.0
"""Longer than a request is held on a slow machine."""


class Asking(Agent):
    """Has each input worked on by every service."""

    def __init__(self, services: dict[str, str]) -> None:
        super().__init__()
        self._names = list(services)
        for name, url in services.items():
            if name == "calls":
                setup = ResourceDescriptor(clazz=HttpSubagent, url=url, retry=_RETRY, request_timeout=_PATIENCE_S)
            else:
                arguments = {
                    "retry": _RETRY,
                    "request_timeout": _PATIENCE_S,
                    "status_poll_interval": 0.2,
                    "timeout": 3 if name == "impatience" else None,
                }
                setup = ResourceDescriptor(clazz=HttpJobSubagent, url=url, **arguments)
            self.add_resource(name, ResourceType.AGENT, setup)

    @action(InputEvent)
    async def ask(self, event: InputEvent, ctx: RunnerContext) -> None:
        """Submit to all services, wait for all results."""
        name = json.loads(event.input)["name"]
        setups = [ctx.get_resource(service, ResourceType.AGENT) for service in self._names]
        results = await SubagentFutures(*[setup.submit(ctx, name) for setup in setups]).await_all()
        ctx.send_event(OutputEvent(output=[name, *[result.result or result.reason for result in results]]))


def main() -> None:
    """Send the inputs through the agent."""
    output, store, services, inputs, per_second = sys.argv[1:6]
    env = AgentsExecutionEnvironment.get_execution_environment()
    env.set_option("store.embedded.dir", store)
    flink = env.stream_environment
    flink.enable_checkpointing(500)
    texts = [json.dumps({"key": f"key_{number % 500}", "name": f"input {number}"}) for number in range(int(inputs))]
    outputs = env.from_datastream(paced(flink, texts, float(per_second)), key_field="key").apply(
        Asking(json.loads(services))
    )
    sink = FileSink.for_row_format(output, Encoder.simple_string_encoder()).build()
    outputs.to_json_datastream().sink_to(sink)
    env.execute("remote-runs")


if __name__ == "__main__":
    main()
