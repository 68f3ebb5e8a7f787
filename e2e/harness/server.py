"""A test server as a process of a run. Owns its life, and what every such server is asked; what it serves is its own."""

from __future__ import annotations

import os
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from e2e.harness.processes import ManagedProcess, wait_until
from flink_agents_subagent.testing.http import Fault, Request, ServerLog, read_log
from flink_agents_subagent.testing.http.loopback import FAULTS_PATH, fault_list

__all__ = ["ServerProcess"]

_ROOT = Path(__file__).resolve().parents[2]
_START_S = 30.0


class ServerProcess:
    """A server in a process of its own, which no death of a caller touches.

    Guarantee: it lives for the `with` block; its log stays in its folder.
    """

    def __init__(self, name: str, module: str, folder: Path, arguments: Sequence[str] = ()) -> None:
        """Describe `python -m module` with these arguments, which keeps its files in `folder`.

        Args:
            name: What messages call it, and its files: `<name>.jsonl` is its log.
            module: Takes `--log` and `--announce`.
            folder: Exists.
            arguments: The rest of the command line.
        """
        self.log = folder / f"{name}.jsonl"
        self._name = name
        self._command: list[str | Path] = [sys.executable, "-m", module, "--log", self.log, *arguments]
        self._folder = folder
        self._process: ManagedProcess | None = None
        self._port = 0

    def start(self) -> None:
        """Start the process; returns when it listens."""
        announcement = self._folder / f"{self._name}.port"
        paths = os.environ.get("PYTHONPATH", "")
        environment = {**os.environ, "PYTHONPATH": f"{_ROOT}{os.pathsep}{paths}" if paths else str(_ROOT)}
        command = [*self._command, "--announce", announcement]
        process = ManagedProcess(self._name, command, self._folder / f"{self._name}.log", env=environment)
        self._process = process
        try:
            wait_until(announcement.exists, f"{self._name} listens", _START_S, [process])
        except BaseException:
            process.kill()
            raise
        self._port = int(announcement.read_text(encoding="ascii"))

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://127.0.0.1:{self._port}"

    def set_faults(self, faults: Sequence[Fault]) -> None:
        """Replace the faults to come, and release the requests that earlier ones hold."""
        request = urllib.request.Request(self.url + FAULTS_PATH, data=fault_list(faults), method="PUT")
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()

    def request_count(self) -> int:
        """Return how many requests were seen so far, without reading what they were."""
        return self._count(b"request")

    def start_count(self) -> int:
        """Return how many runs were started so far, without reading which."""
        return self._count(b"started")

    def requests(self) -> list[Request]:
        """Return the requests seen so far."""
        return list(self.read_log().requests)

    def read_log(self) -> ServerLog:
        """Return what the server has seen and done so far."""
        return read_log(self.log)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _count(self, event: bytes) -> int:
        return self.log.read_bytes().count(b'"event": "%s"' % event) if self.log.exists() else 0
