"""Modules that jobs ship with `python.files`, in a process that all jobs of a TaskManager share (P1).

A module is loaded once for the process, from whichever job's files come first. Flink unpacks the files of every attempt into
a new folder, so that a folder tells nothing: what counts is whether the sources are the same. Owns that comparison.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from pathlib import Path

from flink_agents_subagent.errors import DefinitionError

__all__ = ["refuse_other_versions"]

_lock = threading.Lock()
_known: dict[str, dict[str, set[str]]] = {}
"""By file name relative to its search path, by digest: where it was unpacked, as far as that still matters."""


def refuse_other_versions(directory: str) -> None:
    """Compare the Python files of a job with those that other jobs have loaded or could load from the same process.

    Guarantee: when it returns, no module of the job's files is, or can be, loaded from a file with other contents.
    Thread: any.

    Args:
        directory: Below it Flink has unpacked the job's files; those on the module search path count. Need not exist.

    Raises:
        DefinitionError: A module differs; names it and both paths.
    """
    with _lock:
        loaded = {str(file) for file in (getattr(module, "__file__", None) for module in list(sys.modules.values()))}
        for entry in list(sys.path):
            root = Path(entry)
            if root.is_relative_to(directory) and root.is_dir():
                for path in sorted(root.rglob("*.py")):
                    _check(str(path.relative_to(root)), path, loaded)


def _check(name: str, path: Path, loaded: set[str]) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    versions = _known.setdefault(name, {})
    for other_digest, places in list(versions.items()):
        # Of files that are deleted and were never imported nothing can come any more.
        places &= {place for place in places if place in loaded or Path(place).exists()}
        if not places:
            del versions[other_digest]
        elif other_digest != digest:
            raise DefinitionError(
                f"another job of this TaskManager uses {name.removesuffix('.py').replace('/', '.')} from {min(places)}; this job "
                f"ships another version of it as {path}. Run the jobs in different TaskManagers, restart the TaskManager, or "
                "install the module in its environment instead of shipping it"
            )
    versions.setdefault(digest, set()).add(str(path))
