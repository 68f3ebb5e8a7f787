"""Looks at something again and again while a job runs; in the job's own process, where its main thread waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import final


@final
class Watch:
    """Takes a reading every so many seconds, from the beginning of the `with` block to its end.

    Thread: the readings are taken on one of its own; `readings` are complete behind the block. An exception of a reading
    is raised at the end of the block.
    """

    def __init__(self, take: Callable[[], Sequence[float]], every_s: float) -> None:
        self.readings: list[list[float]] = []
        """Each begins with the seconds since the start."""
        self._take = take
        self._every_s = every_s
        self._is_over = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        begin = time.monotonic()
        try:
            while not self._is_over.wait(self._every_s):
                self.readings.append([time.monotonic() - begin, *self._take()])
        except Exception as error:  # noqa: BLE001 - raised where the block ends
            self._failure = error
