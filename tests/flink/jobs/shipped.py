"""A job that uses a module of its own beside the script: `shipped.py <output folder> [<folder of Python files>]`."""

from __future__ import annotations

import sys
from typing import Any

FOLDER = sys.argv[2] if len(sys.argv) > 2 else None
if FOLDER is not None:
    sys.path.insert(0, FOLDER)

import shipped_helper  # noqa: E402 - may be in the folder above
from pyflink.common.serialization import Encoder  # noqa: E402
from pyflink.datastream.connectors.file_system import FileSink  # noqa: E402

from flink_agents_subagent import Agent, AgentsExecutionEnvironment, InputEvent, OutputEvent, action  # noqa: E402


class Shipped(Agent):
    """Calls the helper durably."""

    @action(InputEvent)
    @staticmethod
    async def receive(event: InputEvent, ctx: Any) -> None:
        """Call."""
        ctx.send_event(OutputEvent(output=await ctx.durable_execute_async(shipped_helper.double, event.input)))


def main() -> None:
    """Double four numbers."""
    env = AgentsExecutionEnvironment.get_execution_environment()
    env.set_option("action-state-store", "memory")
    flink = env.stream_environment
    flink.set_parallelism(1)
    flink.enable_checkpointing(200)
    if FOLDER is not None:
        flink.add_python_file(FOLDER)
    outputs = env.from_list([1, 2, 3, 4], key_selector=lambda number: number % 2, key_type=int).apply(Shipped())
    sink = FileSink.for_row_format(sys.argv[1], Encoder.simple_string_encoder()).build()
    outputs.to_json_datastream().sink_to(sink)
    env.execute("shipped")


if __name__ == "__main__":
    main()
