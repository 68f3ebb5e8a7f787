"""Which processes a process has started. Owns the reading of the system's process table."""

from __future__ import annotations

import subprocess
from collections import defaultdict

from e2e.harness.processes import HarnessError

__all__ = ["commands_below"]


def commands_below(*parts: str) -> list[str]:
    """Return the command lines of what is below the processes whose own command lines have all these parts.

    Raises:
        HarnessError: There is no such process.
    """
    command = ["ps", "-eww", "-o", "pid=,ppid=,args="]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    arguments: dict[int, str] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for line in listing.splitlines():
        own, parent, command_line = line.split(maxsplit=2)
        arguments[int(own)] = command_line
        children[int(parent)].append(int(own))
    found = [process for process, line in arguments.items() if all(part in line for part in parts)]
    if not found:
        raise HarnessError(f"no process has {' and '.join(map(repr, parts))} in its command line")
    below: list[int] = []
    for process in (pending := list(found)):
        below += children[process]
        pending += children[process]
    return [arguments[process] for process in dict.fromkeys(below) if process not in found]
