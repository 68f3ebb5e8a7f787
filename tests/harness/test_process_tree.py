from __future__ import annotations

import subprocess
import sys

import pytest

from e2e.harness.process_tree import commands_below
from e2e.harness.processes import HarnessError

_PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()", sys.argv[2]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print("started", flush=True)
input()
child.communicate(b"\\n")
"""


def test_what_a_process_has_started_is_found() -> None:
    """The child of a process that is known by its arguments is named, the process itself is not."""
    command = [sys.executable, "-c", _PARENT, "the-parent", "the-child"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603 - our own script
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"

        below = commands_below("the-parent", "print")
        parent.communicate("\n")

    assert len(below) == 1
    assert below[0].endswith("the-child")


def test_a_process_that_is_not_there_is_an_error() -> None:
    """No match says nothing about workers, so it does not pass for none."""
    with pytest.raises(HarnessError, match="no process has"):
        commands_below("no process", "has such a command line")
