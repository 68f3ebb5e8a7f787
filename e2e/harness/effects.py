"""An effect server as a process of a run. Owns its life; what it does is in `effect_server`."""

from __future__ import annotations

import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import final

from e2e.harness.effect_log import Request, read_effect_log
from e2e.harness.effect_server import FAULTS_PATH, Fault, fault_list
from e2e.harness.processes import ManagedProcess, wait_until

__all__ = ["EffectServer", "Fault"]

_SCRIPT = Path(__file__).with_name("effect_server.py")
_START_S = 30.0


@final
class EffectServer:
    """The server in a process of its own, which no death of a caller touches.

    Guarantee: it lives for the `with` block; its log stays in `folder`.
    """

    def __init__(self, folder: Path, latency_ms: tuple[int, int] = (0, 0)) -> None:
        """Describe a server that answers after `latency_ms` (least, most) and keeps its files in `folder`."""
        self.log = folder / "effects.jsonl"
        self._folder = folder
        self._latency_ms = latency_ms
        self._process: ManagedProcess | None = None
        self._port = 0

    def __enter__(self) -> EffectServer:
        announcement = self._folder / "effect-server.port"
        command: list[str | Path] = [sys.executable, "-I", _SCRIPT, "--log", self.log]
        command += ["--announce", announcement, "--latency-ms", *(str(limit) for limit in self._latency_ms)]
        process = ManagedProcess("effect server", command, self._folder / "effect-server.log")
        self._process = process
        try:
            wait_until(announcement.exists, "the effect server listens", _START_S, [process])
        except BaseException:
            process.kill()
            raise
        self._port = int(announcement.read_text(encoding="ascii"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://127.0.0.1:{self._port}"

    def set_faults(self, faults: Sequence[Fault]) -> None:
        """Replace the faults to come, and release the requests that earlier ones hold."""
        request = urllib.request.Request(self.url + FAULTS_PATH, data=fault_list(list(faults)), method="PUT")
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()

    def request_count(self) -> int:
        """Return how many requests were seen so far, without reading what they were."""
        return self.log.read_bytes().count(b'"event": "request"') if self.log.exists() else 0

    def requests(self) -> list[Request]:
        """Return the requests seen so far."""
        return read_effect_log(self.log)
