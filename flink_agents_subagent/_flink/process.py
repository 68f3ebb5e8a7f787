"""What all operators of a TaskManager's process share: switch interval, collector, logging, search path. Owns these settings.

It also clears away what attempts that have ended left in the process.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections import deque
from pathlib import Path
from types import ModuleType

__all__ = ["note_end", "note_interpreter", "set_up_process"]

_SWITCH_INTERVAL_SECONDS = 0.0005
"""How long the task thread waits for the interpreter at most while another thread computes; Python's own default is tenfold."""
_COLLECT_AFTER_OBJECTS = 50_000
"""By how many objects there must be more for a run of the cyclic collector. Python's own 700 are those of a dozen parked runs: with
a thousand of them the collector takes a fifth of the task thread's time, and finds nothing. This is more than a thousand parked
runs have, so that it does not run only because they come and go."""
_OF_INTERPRETER = "_pemja"
"""The module that the bridge makes for each interpreter, in the place of the one before."""
_UNPACKED = "python-dist-"
"""Part of the name of every folder into which Flink unpacks files of a job."""

_has_ended = threading.Event()
"""Whether an operator was closed since the last full collection."""
_of_interpreters: deque[ModuleType] = deque()
"""The bridge's modules that are not emptied yet, oldest first."""


def note_end() -> None:
    """Note that an operator was closed.

    Thread: any.
    """
    _has_ended.set()


def note_interpreter() -> None:
    """Note the module that the bridge has made for a new interpreter; one that another thread's has replaced by now stays behind.

    Thread: the interpreter's own.
    """
    module = sys.modules.get(_OF_INTERPRETER)
    if module is not None:
        _of_interpreters.append(module)


def set_up_process() -> None:
    """Prepare the process for agents; harmless when it is done again.

    Thread: any.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
    # A collector that somebody has switched off (0) or made rarer stays so.
    if 0 < gc.get_threshold()[0] < _COLLECT_AFTER_OBJECTS:
        gc.set_threshold(_COLLECT_AFTER_OBJECTS)
    root = logging.getLogger()
    # The bridge sets it to DEBUG; each suppressed record would then cost a call into Java.
    if root.level == logging.DEBUG:
        root.setLevel(logging.INFO)
    # Each interpreter adds its paths again, and attempts that have ended leave theirs.
    sys.path[:] = dict.fromkeys(path for path in sys.path if _UNPACKED not in path or Path(path).exists())
    _collect_ended()
    _empty_modules_of_interpreters()


def _collect_ended() -> None:
    """Free what attempts that have ended left: an engine, and an author's objects, refer to themselves in circles.

    By itself the collector would come to them some dozens of attempts later. Not when they end: their threads may still run then.
    """
    if _has_ended.is_set():
        _has_ended.clear()
        gc.collect()


def _empty_modules_of_interpreters() -> None:
    """Empty the modules that interpreters have left: nothing frees them, and every thread of an ended attempt had one.

    What is in use of them (one function) was taken from them when the bridge was first imported, which is long over. They are noted and not
    looked for: `gc.get_objects` would hold the tuples that other threads are just making, and making them would fail.
    """
    newest = sys.modules.get(_OF_INTERPRETER)
    for _ in range(len(_of_interpreters)):
        left = _of_interpreters.popleft()
        if left is newest:
            _of_interpreters.append(left)
            continue
        vars(left).clear()
        # Who goes through all modules expects it.
        left.__name__ = _OF_INTERPRETER
