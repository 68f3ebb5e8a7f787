"""Write the package's public names into the list that an architecture test compares."""

from __future__ import annotations

from pathlib import Path

import flink_agents_subagent

_LIST = Path(__file__).resolve().parent.parent / "tests" / "architecture" / "public_names.txt"

if __name__ == "__main__":
    _LIST.write_text("".join(f"{name}\n" for name in flink_agents_subagent.__all__), encoding="utf-8")
    print(f"{len(flink_agents_subagent.__all__)} names written to {_LIST.name}")
