from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.harness.processes import HarnessError, ManagedProcess, end, temporary_folder, wait_until

_ROOT = Path(__file__).resolve().parents[2]
_WAIT_FOR_EVER = "import signal, threading; print('up', flush=True); threading.Event().wait()"
_IGNORE_TERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + _WAIT_FOR_EVER


def _started(folder: Path, code: str, name: str = "child") -> ManagedProcess:
    process = ManagedProcess(name, [sys.executable, "-c", code], folder / f"{name}.log")
    wait_until(lambda: "up" in process.log_tail(), f"{name} is up", 30)
    return process


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_kill_returns_when_the_process_is_dead(tmp_path: Path) -> None:
    """After kill the process is gone, whatever it does about signals."""
    process = _started(tmp_path, _IGNORE_TERM)

    process.kill()

    assert not process.is_alive
    assert _is_gone(process.pid)


def test_kill_takes_the_children_along(tmp_path: Path) -> None:
    """What a killed process had started dies with it, as when its machine is lost."""
    code = "import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE);"
    process = _started(tmp_path, f"{code} print(c.pid, 'up', flush=True); c.wait()")
    child = int(process.log_tail().split()[0])

    process.kill()

    # An orphan is reaped by another process, which takes a moment.
    wait_until(lambda: _is_gone(child) or _is_zombie(child), "the child is dead", 30)


def _is_zombie(pid: int) -> bool:
    answer = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return answer.stdout.strip()[:1] in ("", "Z")


def test_the_children_of_a_process_that_ended_die_too(tmp_path: Path) -> None:
    """A process that ends by itself, or by a polite signal, leaves no child behind."""
    code = "import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE);"
    process = _started(tmp_path, f"{code} print(c.pid, 'up', flush=True); import os; os._exit(3)")
    child = int(process.log_tail().split()[0])

    assert process.wait(30) == 3
    wait_until(lambda: _is_gone(child) or _is_zombie(child), "the child is dead", 30)


def test_kill_is_harmless_when_repeated(tmp_path: Path) -> None:
    """A second kill does nothing."""
    process = _started(tmp_path, _WAIT_FOR_EVER)
    process.kill()

    process.kill()

    assert not process.is_alive


def test_end_lets_processes_shut_down(tmp_path: Path) -> None:
    """A process that obeys SIGTERM ends by it."""
    process = _started(tmp_path, _WAIT_FOR_EVER)

    end([process], within_s=30)

    assert process.wait(0) == -signal.SIGTERM


def test_end_kills_what_does_not_obey(tmp_path: Path) -> None:
    """A process that ignores SIGTERM is killed once the time is over."""
    process = _started(tmp_path, _IGNORE_TERM)

    end([process], within_s=0)

    assert process.wait(0) == -signal.SIGKILL


def test_waiting_notices_a_death(tmp_path: Path) -> None:
    """Waiting for something that a dead process would have done fails with the end of its log."""
    process = ManagedProcess("loser", [sys.executable, "-c", "raise SystemExit('out of luck')"], tmp_path / "log")

    with pytest.raises(HarnessError, match=r"loser ended with status 1(?s:.*)out of luck"):
        wait_until(lambda: False, "a miracle happens", 30, [process])


def test_waiting_has_an_end() -> None:
    """A deadline that passes names what was waited for."""
    with pytest.raises(HarnessError, match="a miracle happens: not within 0 s"):
        wait_until(lambda: None, "a miracle happens", 0)


def test_the_folder_goes_after_an_exception() -> None:
    """A failing block leaves no folder behind."""
    made = []

    def work() -> None:
        with temporary_folder("harness-") as folder:
            (folder / "file").write_text("x", encoding="ascii")
            made.append(folder)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()

    assert [folder.exists() for folder in made] == [False]


def test_nothing_outlives_an_interpreter_that_does_not_clean_up(tmp_path: Path) -> None:
    """A process and a folder that nobody ended are ended with the interpreter."""
    code = (
        "import sys; from pathlib import Path; from e2e.harness.processes import *;"
        "keep = temporary_folder('harness-'); folder = keep.__enter__();"
        f"p = ManagedProcess('child', [sys.executable, '-c', {_IGNORE_TERM!r}], folder / 'log');"
        "print(p.pid, folder)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], cwd=_ROOT, env=environment, capture_output=True, text=True, check=True
    )

    pid, folder = done.stdout.split()
    assert _is_gone(int(pid))
    assert not Path(folder).exists()
