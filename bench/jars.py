"""Compiles the measuring operators with plain javac against the Flink of an environment."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from bench.environments import HERE, PEERS, Environment, SetupError

_SOURCES = HERE / "java"


def jar_for(environment: Environment) -> Path:
    """Return the jar with the operators in `bench/java`, compiled on first use and after a change.

    Raises:
        SetupError: There is no JDK, or the sources do not compile.
    """
    sources = sorted(_SOURCES.rglob("*.java"))
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    jar = PEERS / "jars" / f"bench-{environment.flink_version}-{digest}.jar"
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        _compile(sources, environment, jar)
    return jar


def _compile(sources: list[Path], environment: Environment, jar: Path) -> None:
    libraries = [*environment.pyflink.glob("lib/*.jar"), *environment.pyflink.glob("opt/flink-python*.jar")]
    with tempfile.TemporaryDirectory() as scratch:
        classes = Path(scratch) / "classes"
        command = [_javac(), "--release", "17", "-Xlint:all,-path,-processing", "-Werror", "-d", str(classes)]
        command += ["-classpath", os.pathsep.join(map(str, libraries)), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SetupError(f"{_SOURCES} does not compile with Flink {environment.flink_version}:\n{done.stderr}")
        packed = Path(scratch) / jar.name
        with zipfile.ZipFile(packed, "w") as archive:
            for file in sorted(classes.rglob("*.class")):
                archive.write(file, file.relative_to(classes))
        shutil.move(packed, jar)


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=f"{home}/bin") if home else shutil.which("javac")
    if found is None:
        raise SetupError("no javac: install a JDK 17 or newer, or point JAVA_HOME at one")
    return found
