"""Write the JSON schema of files of agents into the package."""

from pathlib import Path

from flink_agents_subagent._descriptor.model import render_schema

if __name__ == "__main__":
    target = Path(__file__).parent.parent / "flink_agents_subagent" / "schema" / "agent.schema.json"
    target.write_text(render_schema(), encoding="utf-8")
    print(f"wrote {target}")
