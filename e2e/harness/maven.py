"""What Maven resolves for a run: the class path of a pom that nothing is built from. Owns the file in which it is kept."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from e2e.harness.processes import HarnessError

__all__ = ["resolved_jars"]

_MAVEN_S = 600


def resolved_jars(folder: Path) -> list[Path]:
    """Return the jars of `folder/pom.xml`, dependencies first to last; the first call ever lets Maven download them.

    Raises:
        HarnessError: Maven could not; shows what it said.
    """
    pom, kept = folder / "pom.xml", folder / "target" / "classpath"
    if kept.exists() and kept.stat().st_mtime >= pom.stat().st_mtime:
        jars = _read(kept)
        if all(jar.exists() for jar in jars):
            return jars
    _resolve(pom, kept)
    return _read(kept)


def _read(kept: Path) -> list[Path]:
    return [Path(jar) for jar in kept.read_text(encoding="utf-8").strip().split(os.pathsep)]


def _resolve(pom: Path, kept: Path) -> None:
    kept.parent.mkdir(exist_ok=True)
    # Beside the file first: another run may be reading it.
    handle, draft = tempfile.mkstemp(prefix="classpath", dir=kept.parent)
    os.close(handle)
    command = [os.environ.get("MAVEN", "mvn"), "-B", "-ntp", "-q", "-f", str(pom)]
    command += ["dependency:build-classpath", f"-Dmdep.outputFile={draft}"]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_MAVEN_S,
        check=False,
    )
    if done.returncode != 0:
        Path(draft).unlink()
        raise HarnessError(f"Maven could not resolve {pom}:\n{done.stdout.strip()}")
    Path(draft).replace(kept)
