"""How much CPU a TaskManager takes while calls wait, read from inside it. Standard library only: it runs embedded.

The call for input 0 takes the reading; the others wait a little longer than it does.
"""

from __future__ import annotations

import asyncio
import time

from bench.protocol import leave

SETTLE_S = 6.0
"""Until all runs wait and the JIT compiler has come to rest."""
WINDOW_S = 5.0
"""How long the CPU is watched."""
OTHERS_S = SETTLE_S + WINDOW_S + 2.0
"""How long a call that takes no reading waits."""


class CpuWindow:
    """The CPU time of this process since the making of this object, in cores."""

    def __init__(self) -> None:
        self._wall = time.monotonic()
        self._cpu = time.process_time()

    def cores(self) -> float:
        """Return the number of cores."""
        return (time.process_time() - self._cpu) / (time.monotonic() - self._wall)


def blocking_wait(number: int) -> int:
    """Wait as the call for input `number`, on the calling thread."""
    if number:
        time.sleep(OTHERS_S)
    else:
        time.sleep(SETTLE_S)
        window = CpuWindow()
        time.sleep(WINDOW_S)
        leave({"cores": window.cores()})
    return number


async def coroutine_wait(number: int) -> int:
    """Wait as the call for input `number`, on the loop that all calls share."""
    if number:
        await asyncio.sleep(OTHERS_S)
    else:
        await asyncio.sleep(SETTLE_S)
        window = CpuWindow()
        await asyncio.sleep(WINDOW_S)
        leave({"cores": window.cores()})
    return number
