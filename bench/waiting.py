"""How much CPU a TaskManager takes while calls wait, read from inside it. Standard library only: it runs embedded.

The call for input 0 takes the reading; the others wait a little longer than it does.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from bench.protocol import READING_VARIABLE

SETTLE_S = 6.0
"""Until all runs wait and the JIT compiler has come to rest."""
WINDOW_S = 5.0
"""How long the CPU is watched."""
OTHERS_S = SETTLE_S + WINDOW_S + 2.0
"""How long a call that takes no reading waits."""


class CpuWindow:
    """The CPU time of this process from the making of this object to `close`, in cores."""

    def __init__(self) -> None:
        self._wall = time.monotonic()
        self._cpu = time.process_time()

    def close(self) -> None:
        """Leave the number of cores where `reading` finds it."""
        cores = (time.process_time() - self._cpu) / (time.monotonic() - self._wall)
        Path(os.environ[READING_VARIABLE]).write_text(str(cores), encoding="utf-8")


def blocking_wait(number: int) -> int:
    """Wait as the call for input `number`, on the calling thread."""
    if number:
        time.sleep(OTHERS_S)
    else:
        time.sleep(SETTLE_S)
        window = CpuWindow()
        time.sleep(WINDOW_S)
        window.close()
    return number


def reading() -> float:
    """Return the number of cores that `CpuWindow.close` left."""
    return float(Path(os.environ[READING_VARIABLE]).read_text(encoding="utf-8"))
