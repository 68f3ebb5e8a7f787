"""Processes that a run starts, and the folders they work in. Owns start, death and clean-up; knows no protocol."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from e2e.harness.signals import deferred_signals

__all__ = ["HarnessError", "ManagedProcess", "end", "temporary_folder", "wait_until"]

T = TypeVar("T")

_POLL_S = 0.05


class HarnessError(Exception):
    """A process of the run did not do what it had to; the message says which, what, and shows the end of its log."""


class ManagedProcess:
    """A process known by its id, in a session of its own, with its output in one log file.

    Guarantee: it does not outlive this interpreter, unless that is killed with −9. A Ctrl-C in the terminal does not
    reach it; its owner ends it.
    """

    _alive: set[ManagedProcess] = set()  # noqa: RUF012 - the one registry that `_end_all` reads

    def __init__(
        self, name: str, command: Sequence[str | Path], log: Path, *, env: Mapping[str, str] | None = None
    ) -> None:
        """Start `command`; `env` is the whole environment, None inherits ours."""
        self.name = name
        self.log = log
        # A signal between the start and the entry in the registry would leave the process alone.
        with deferred_signals(), log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=env,
            )
            self._alive.add(self)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._status() is None

    def kill(self) -> None:
        """End the process, and what it started, with −9; returns when it is dead."""
        with deferred_signals():
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._status()

    def terminate(self) -> None:
        """Ask the process, and what it started, to end; `wait` tells when it did."""
        self._signal(signal.SIGTERM)

    def pause(self) -> None:
        """Stop the process, and what it started, in their tracks, until `resume`; `kill` works all the same."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process go on."""
        self._signal(signal.SIGCONT)

    def wait(self, within_s: float) -> int:
        """Return the exit status; raises `HarnessError` when the process still runs after `within_s`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        status = self._status()
        if status is None:
            raise HarnessError(f"{self.name} (process {self.pid}) still runs after {within_s:g} s")
        return status

    def log_tail(self, lines: int = 30) -> str:
        """Return the end of the log."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def check_alive(self) -> None:
        """Raise `HarnessError` with the end of the log when the process has died."""
        status = self._status()
        if status is not None:
            raise HarnessError(f"{self.name} ended with status {status}; the end of its log:\n{self.log_tail()}")

    def _status(self) -> int | None:
        """Return the exit status, None while the process runs; what it had started ends with it."""
        status = self._process.poll()
        if status is not None and self in self._alive:
            # At once: while its group has members, nobody else can get its id.
            self._signal_group(signal.SIGKILL)
            self._alive.discard(self)
        return status

    def _signal(self, number: signal.Signals) -> None:
        if self.is_alive:
            self._signal_group(number)

    def _signal_group(self, number: signal.Signals) -> None:
        # PermissionError is how macOS says that only dead members are left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def end(processes: Iterable[ManagedProcess], within_s: float = 5) -> None:
    """Ask the processes to end all at once, and kill those that still run after `within_s`."""
    with deferred_signals():
        running = [process for process in processes if process.is_alive]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + within_s
        while any(process.is_alive for process in running) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        for process in running:
            process.kill()


@atexit.register
def _end_all() -> None:
    # What a signal in the gap between two statements of a clean-up may have left.
    for process in tuple(ManagedProcess._alive):
        process.kill()


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder and remove it with everything in it at the end of the block, or of the interpreter."""
    with deferred_signals():
        path = Path(tempfile.mkdtemp(prefix=prefix))
        remove = functools.partial(shutil.rmtree, path, ignore_errors=True)
        atexit.register(remove)
    try:
        yield path
    finally:
        with deferred_signals():
            remove()
            atexit.unregister(remove)


def wait_until(
    check: Callable[[], T | None],
    what: str,
    within_s: float,
    processes: Iterable[ManagedProcess] = (),
    *,
    poll_s: float = _POLL_S,
) -> T:
    """Call `check` every `poll_s` until it returns something true, and return that.

    Raises:
        HarnessError: `within_s` is over, or one of `processes` died meanwhile; names `what`.
    """
    deadline = time.monotonic() + within_s
    while True:
        found = check()
        if found:
            return found
        for process in processes:
            process.check_alive()
        if time.monotonic() >= deadline:
            raise HarnessError(f"{what}: not within {within_s:g} s")
        time.sleep(poll_s)
