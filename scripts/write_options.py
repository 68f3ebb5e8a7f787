"""Write docs/options.md from the table of options."""

from pathlib import Path

from flink_agents_subagent.options import render_options

if __name__ == "__main__":
    target = Path(__file__).parent.parent / "docs" / "options.md"
    target.write_text(render_options(), encoding="utf-8")
    print(f"wrote {target}")
