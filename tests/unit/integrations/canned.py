"""A service that gives the answers that it is told to. Owns no protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flink_agents_subagent.testing.http import Fault
from flink_agents_subagent.testing.http.loopback import Asked, LoopbackServer, Reply

__all__ = ["CannedServer", "canned"]


class CannedServer(LoopbackServer):
    """Gives one answer after the other, or a function's to every request, and keeps what it was asked."""

    def __init__(self, log: Path, *replies: Reply | Callable[[Asked], Reply]) -> None:
        super().__init__(log)
        self.replies = list(replies)
        self.asked: list[Asked] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def answer(self, asked: Asked) -> Reply:
        """Give the next answer."""
        self.asked.append(asked)
        if isinstance(self.replies[0], Reply):
            return self.replies.pop(0)
        return self.replies[0](asked)

    def is_for(self, fault: Fault, asked: Asked) -> bool:
        """Let every fault hit every request."""
        return True

    def key_of(self, path: str) -> str:
        """Know no keys in paths."""
        return ""


@contextmanager
def canned(folder: Path, *replies: Reply | Callable[[Asked], Reply]) -> Iterator[CannedServer]:
    """Run a service with these answers on a thread."""
    folder.mkdir(exist_ok=True)
    server = CannedServer(folder / "canned", *replies)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
