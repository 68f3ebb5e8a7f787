"""Run every static check, fast ones first, and end in a summary; all run even if one fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time

_PYTHON = sys.executable
_CHECKS: dict[str, list[str]] = {
    "ruff format": [_PYTHON, "-m", "ruff", "format", "--check", "."],
    "ruff check": [_PYTHON, "-m", "ruff", "check", "."],
    "import-linter": [_PYTHON, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
    "mypy": [_PYTHON, "-m", "mypy"],
    "java: compile, spotless, checkstyle, enforcer": [
        os.environ.get("MAVEN", "mvn"),
        *("-B", "-ntp", "-q", "-Dstyle.color=never", "-f", "java-bridge/pom.xml", "verify", "-DskipTests"),
    ],
}


def main() -> int:
    """Run the checks and return the exit status."""
    failed = [name for name, command in _CHECKS.items() if not _passes(name, command)]
    print(f"\nChecks: {len(_CHECKS) - len(failed)} passed, {len(failed)} failed")
    for name in failed:
        print(f"  FAILED  {name}")
    if failed:
        print("`make format` mends the format and some of the lint.")
    return 1 if failed else 0


def _passes(name: str, command: list[str]) -> bool:
    print(f"==> {name}", flush=True)
    start = time.monotonic()
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    seconds = time.monotonic() - start
    if done.returncode == 0:
        print(f"    passed in {seconds:.1f} s")
        return True
    print(done.stdout.rstrip())
    print(f"    FAILED in {seconds:.1f} s", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
