"""An HTTP server whose log tells what the outside world saw: every request, when it came, when it was answered.

Run as a script, see `effects`. Owns answers and latency; connections, faults and the log are those of every test server.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

from flink_agents_subagent.testing.http.fault import Fault
from flink_agents_subagent.testing.http.loopback import Asked, LoopbackServer, Reply, run_as_process, server_arguments

__all__ = ["SEEN_PATH", "EffectHttpServer", "answer"]

SEEN_PATH = "/_seen"
"""What a reconciler asks: a POST of an idempotency key is answered like the request that had it; `{}` when there was none."""


def answer(body: bytes) -> dict[str, Any]:
    """Return the answer to a request: it depends on nothing but the content."""
    digest = hashlib.sha256(body).hexdigest()
    return {"confirmation": digest[:12], "number": int(digest[12:20], 16)}


class EffectHttpServer(LoopbackServer):
    """The server: it takes any request, and answers after a latency."""

    def __init__(self, log: Path, latency_ms: tuple[int, int], address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        """Listen at `address`, a free port if that is 0; `latency_ms` are the least and the most that an answer takes."""
        self._address = address
        super().__init__(log)
        self._latency_ms = latency_ms
        self._answers: dict[str, dict[str, Any]] = {}
        """By idempotency key; there from the beginning of a request on, since from then on it has its effect."""

    def server_bind(self) -> None:
        """Take the address: in a container the loopback interface is nobody else's."""
        self.server_address = self._address
        super().server_bind()

    def is_for(self, fault: Fault, asked: Asked) -> bool:
        """Tell whether a fault may hit a request: by what its path begins with."""
        return asked.path.startswith(fault.on)

    def key_of(self, path: str) -> str:  # noqa: ARG002 - any path will do
        """Return no key: only requests have one here."""
        return ""

    def answer(self, asked: Asked) -> Reply:
        """Answer after the latency of the request, which depends on its content alone."""
        if asked.path == SEEN_PATH:
            return Reply(200, self._answers.get(asked.body.decode(), {}))
        self._answers[asked.key] = answer(asked.body)
        least, most = self._latency_ms
        time.sleep((least + hashlib.sha256(asked.body).digest()[-1] / 255 * (most - least)) / 1000)
        return Reply(200, answer(asked.body))


def main() -> None:
    """Serve until the process is ended."""
    parser = server_arguments(__doc__.splitlines()[0])
    parser.add_argument("--latency-ms", type=int, nargs=2, default=(0, 0), metavar=("LEAST", "MOST"))
    parser.add_argument("--host", default="127.0.0.1", help="interface to listen on")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    options = parser.parse_args()
    least, most = options.latency_ms
    address = (options.host, options.port)
    run_as_process(lambda: EffectHttpServer(options.log, (least, most), address), options.announce)


if __name__ == "__main__":
    main()
