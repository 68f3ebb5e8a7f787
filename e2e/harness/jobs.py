"""A job server as a process of a run. Owns its command line; what it does is in `flink_agents_subagent.testing.http`."""

from __future__ import annotations

from pathlib import Path
from typing import final

from e2e.harness.server import ServerProcess

__all__ = ["JobServerProcess"]


@final
class JobServerProcess(ServerProcess):
    """A server that speaks the job protocol."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        """Describe a server that keeps its files in `folder`; `python -m flink_agents_subagent.testing.http --help` tells the arguments."""
        super().__init__("jobs", "flink_agents_subagent.testing.http", folder, arguments)
