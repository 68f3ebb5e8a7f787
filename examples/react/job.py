"""The planner on a stream of trips: `python -m examples.react.job`, or with `yaml` behind it as the file describes it."""

from __future__ import annotations

import sys
from pathlib import Path

from examples.react.agents import planner
from flink_agents_subagent import AgentsExecutionEnvironment

FILE = Path(__file__).with_name("agents.yaml")
TRIPS = [{"city": "Oslo", "nights": 2}, {"city": "Lisbon", "nights": 3}]


def main() -> None:
    """Run the job and print the plans, one line each."""
    env = AgentsExecutionEnvironment.get_execution_environment()
    trips = env.from_list(TRIPS, key_selector=lambda trip: trip["city"])
    if sys.argv[1:] == ["yaml"]:
        env.load_yaml(FILE)
        plans = trips.apply("planner")
    else:
        plans = trips.apply(planner())
    for plan in plans.collect():
        print(plan.model_dump_json())


if __name__ == "__main__":
    main()
