"""An effect server as a process of a run. Owns its command line; what it does is in `effect_server`."""

from __future__ import annotations

from pathlib import Path
from typing import final

from e2e.harness.server import ServerProcess
from flink_agents_subagent.testing.http import Fault

__all__ = ["EffectServer", "Fault"]


@final
class EffectServer(ServerProcess):
    """A server that takes any request and answers after a latency."""

    def __init__(self, folder: Path, latency_ms: tuple[int, int] = (0, 0)) -> None:
        """Describe a server that answers after `latency_ms` (least, most) and keeps its files in `folder`."""
        least, most = latency_ms
        arguments = ("--latency-ms", str(least), str(most))
        super().__init__("effects", "e2e.harness.effect_server", folder, arguments)
