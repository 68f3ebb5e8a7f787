"""A notice board outside of Flink: actions and calls of a job report here by name and wait here until the test lets them go.

The job runs in another process than the test, so the two meet at a socket. Nothing polls and nothing sleeps.
"""

from __future__ import annotations

import asyncio
import os
import socket
import socketserver
import threading
from collections import Counter

__all__ = ["Board", "ask", "ask_async"]

ADDRESS_VARIABLE = "FLINK_AGENTS_TEST_BOARD"
_SECONDS = 90.0


class Board:
    """Counts who asks; answers at once, or when the test says so.

    Thread: any.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asked: Counter[str] = Counter()
        self._held: set[str] = set()
        self._released: Counter[str] = Counter()
        self._answers: dict[str, list[str]] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.board = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        os.environ[ADDRESS_VARIABLE] = str(self._server.server_address[1])

    def hold(self, name: str) -> None:
        """Let whoever asks under this name wait until `release`."""
        with self._changed:
            self._held.add(name)

    def release(self, name: str) -> None:
        """Answer all who wait under this name, and those who come."""
        with self._changed:
            self._held.discard(name)
            self._changed.notify_all()

    def release_first(self, name: str, count: int) -> None:
        """Answer the first so many who have asked under this name; the others wait on."""
        with self._changed:
            self._released[name] = count
            self._changed.notify_all()

    def answer(self, name: str, *answers: str) -> None:
        """Give these answers to the next who ask under this name; after them it is `ok` again."""
        with self._changed:
            self._answers[name] = list(answers)

    def asked(self, name: str) -> int:
        """Return how often this name has asked."""
        with self._changed:
            return self._asked[name]

    def wait_asked(self, name: str, times: int = 1) -> None:
        """Return when this name has asked so often; fails after a minute and a half."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: self._asked[name] >= times, _SECONDS)
            assert arrived, f"{name} asked {self._asked[name]} times, not {times}; asked so far: {dict(self._asked)}"

    def close(self) -> None:
        """Let everybody go and stop."""
        with self._changed:
            self._held.clear()
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, name: str) -> str:
        """Answer one question; on a thread of its own."""
        with self._changed:
            self._asked[name] += 1
            number = self._asked[name]
            self._changed.notify_all()
            answers = self._answers.get(name)
            answer = answers.pop(0) if answers else "ok"
            self._changed.wait_for(lambda: name not in self._held or number <= self._released[name])
        return answer


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256
    board: Board


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        name = self.rfile.readline().decode().strip()
        answer = self.server.board.handle(name)
        try:
            self.wfile.write(f"{answer}\n".encode())
        except OSError:
            # Whoever asked was cancelled meanwhile.
            return


def ask(name: str) -> str:
    """Ask under a name and wait for the answer; a blocking durable function."""
    with socket.create_connection(("127.0.0.1", _port())) as connection, connection.makefile("rw") as stream:
        stream.write(f"{name}\n")
        stream.flush()
        return stream.readline().strip()


async def ask_async(name: str) -> str:
    """Ask under a name and wait for the answer; a durable coroutine function."""
    reader, writer = await asyncio.open_connection("127.0.0.1", _port())
    try:
        writer.write(f"{name}\n".encode())
        return (await reader.readline()).decode().strip()
    finally:
        writer.close()


def _port() -> int:
    return int(os.environ[ADDRESS_VARIABLE])
