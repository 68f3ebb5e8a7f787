"""Run one input with another Python in the TaskManager: `python one_input.py <interpreter>`; prints outputs or failure as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

# Not by PYTHONPATH, which the TaskManager would inherit.
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment

from flink_agents_subagent import (
    Agent,
    AgentsExecutionEnvironment,
    InputEvent,
    OutputEvent,
    RunnerContext,
    action,
)


class Where(Agent):
    """Tells which Python it runs in."""

    @action(InputEvent)
    @staticmethod
    def tell(event: InputEvent, ctx: RunnerContext) -> None:
        """Tell the value of a variable that an editable install sets."""
        import from_the_environment  # type: ignore[import-not-found] # noqa: PLC0415 - only there

        ctx.send_event(OutputEvent(output=from_the_environment.NAME))


def main() -> None:
    """Run the job."""
    configuration = Configuration()
    configuration.set_string("python.executable", sys.argv[1])
    # Otherwise a local job runs agents with the module path of this process.
    configuration.set_string("python.pythonpath", "/no/such/folder")
    flink = StreamExecutionEnvironment.get_execution_environment(configuration)
    env = AgentsExecutionEnvironment.get_execution_environment(flink).set_option("action-state-store", "memory")
    try:
        found = {"outputs": env.from_list(["x"], key_selector=str).apply(Where()).collect()}
    except Exception as error:  # noqa: BLE001 - whatever Flink's client raises
        found = {"failure": str(error)}
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
