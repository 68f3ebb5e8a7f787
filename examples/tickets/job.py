"""Both agents of the file on one stream of tickets."""

from __future__ import annotations

from pathlib import Path

from flink_agents_subagent import AgentsExecutionEnvironment

FILE = Path(__file__).with_name("agents.yaml")
TICKETS = [
    {"customer": "ada", "text": "My parcel is late"},
    {"customer": "bob", "text": "URGENT: charged twice"},
    {"customer": "ada", "text": "Urgent, the courier lost it"},
    {"customer": "eve", "text": "How do I cancel?"},
]


def main() -> None:
    """Run the job and print what comes out, one line each."""
    env = AgentsExecutionEnvironment.get_execution_environment().load_yaml(FILE)
    for name in ("triage", "counter"):
        for output in env.from_list(TICKETS, key_selector=lambda ticket: ticket["customer"]).apply(name).collect():
            print(name, output)


if __name__ == "__main__":
    main()
