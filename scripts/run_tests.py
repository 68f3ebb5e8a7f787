"""Run the Java tests, then the Python tests, and end in a summary; both run even if the first fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

_ROOT = Path(__file__).resolve().parent.parent
_WORK = _ROOT / ".make"
_JAVA = _ROOT / "java-bridge"
_JAVA_REPORTS = (_JAVA / "target" / "surefire-reports", _JAVA / "target" / "failsafe-reports")
_MAVEN_LINE = re.compile(r"Tests run:|Running |\[ERROR\]|BUILD ")


@dataclass(frozen=True)
class _Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: _Count) -> _Count:
        return _Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def main() -> int:
    """Run both suites and return the exit status."""
    _WORK.mkdir(exist_ok=True)
    java_ok, java = _run_java()
    python_ok, python = _run_python()
    print("\n==> Summary")
    for language, passes, count in (("Java", java_ok, java), ("Python", python_ok, python)):
        print(f"    {language:<8}{count}{'' if passes else '   FAILED'}")
    passes = java_ok and python_ok
    print(f"    {'Total':<8}{java + python}\n    {'All tests passed.' if passes else 'FAILED, see above.'}")
    return 0 if passes else 1


def _run_java() -> tuple[bool, _Count]:
    print("==> Java tests", flush=True)
    for folder in _JAVA_REPORTS:
        shutil.rmtree(folder, ignore_errors=True)
    log = _WORK / "java-tests.log"
    status = _stream_maven(log)
    count = sum((_read_report(file) for folder in _JAVA_REPORTS for file in folder.glob("TEST-*.xml")), _Count())
    if status != 0:
        print(f"    the whole output is in {log.relative_to(_ROOT)}")
    elif count.passed == 0:
        print("    no Java test ran")
    return status == 0 and count.failed == 0 and count.passed > 0, count


def _stream_maven(log: Path) -> int:
    """Run Maven with its output in a log, and show the lines that matter."""
    # Format and style are what `make check` looks at.
    command = [os.environ.get("MAVEN", "mvn"), "-B", "-ntp", "-Dstyle.color=never", "-f", "java-bridge/pom.xml"]
    command += ["verify", "-Dspotless.check.skip=true", "-Dcheckstyle.skip=true"]
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        for line in process.stdout or ():
            file.write(line)
            if _MAVEN_LINE.search(line):
                print(line.rstrip(), flush=True)
    return process.returncode


def _run_python() -> tuple[bool, _Count]:
    print("\n==> Python tests", flush=True)
    report = _WORK / "pytest.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", f"--junit-xml={report}", *sys.argv[1:]]
    status = subprocess.run(command, cwd=_ROOT, stdin=subprocess.DEVNULL, check=False).returncode
    return status == 0, _read_report(report) if report.exists() else _Count()


def _read_report(file: Path) -> _Count:
    # Written by the run just made, so that it is no untrusted input.
    root = ET.parse(file).getroot()  # noqa: S314
    # Cases are counted, because Surefire's totals leave out nested classes that share a file.
    count = _Count()
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count += _Count(failed=1)
        elif case.find("skipped") is not None:
            count += _Count(skipped=1)
        else:
            count += _Count(passed=1)
    return count


if __name__ == "__main__":
    sys.exit(main())
