"""What `flink-agents-subagent` and `python -m flink_agents_subagent.cli` run. Owns the message about a missing extra."""

from __future__ import annotations

import importlib
import sys

__all__ = ["run"]

_EXTRA = frozenset({"typer", "rich"})


def run() -> None:
    """Run the command line; says what to install when its libraries are missing."""
    try:
        app = importlib.import_module("flink_agents_subagent.cli.app").app
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'flink-agents-subagent[cli]'")
    app()


if __name__ == "__main__":
    run()
