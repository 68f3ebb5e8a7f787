"""What `doctor` looks at. Owns the checks and their remedies; must not know how they are shown, and imports neither PyFlink nor Java."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flink_agents_subagent._flink.jar import JAR

__all__ = ["Check", "check_cluster", "check_here"]

_PYTHONS = ((3, 10), (3, 12))
_OLDEST_JAVA = 17
_PACKAGE = "flink-agents-subagent"
_NEEDED = {"apache-flink": "2.3.", "pemja": "0.5.", "cloudpickle": "", "pydantic": "2."}
_PARENT_FIRST = "classloader.parent-first-patterns.additional"
_JAR_PROPERTIES = re.compile(r"META-INF/maven/.*/pom\.properties")


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check."""

    name: str
    is_ok: bool
    found: str
    remedy: str = ""


def check_here(jar: Path = JAR) -> Iterator[Check]:
    """Check this machine and this interpreter: what submitting a job and running it locally need."""
    yield check_python(sys.version_info[:2])
    for package, wanted in _NEEDED.items():
        yield check_package(package, wanted)
    yield check_java(os.environ)
    yield check_jar(jar, _version_of(_PACKAGE))


def check_cluster(configuration: Path, libraries: Path) -> Iterator[Check]:
    """Check the files of a cluster: what a session cluster needs to run more than one job (embedding.md, section 3).

    Args:
        configuration: Its `config.yaml`.
        libraries: Its `lib` folder.
    """
    options = _read_configuration(configuration)
    yield check_parent_first(options)
    yield check_library(libraries)
    yield check_executable(options, sys.version_info[:2])


def check_python(version: Sequence[int]) -> Check:
    """Check the version of the interpreter."""
    found = ".".join(map(str, version))
    oldest, newest = (".".join(map(str, bound)) for bound in _PYTHONS)
    is_ok = _PYTHONS[0] <= tuple(version) <= _PYTHONS[1]
    return Check(
        "Python",
        is_ok,
        f"{found} at {sys.executable}",
        f"use Python {oldest} to {newest}: pemja has no wheels for others",
    )


def check_package(package: str, wanted: str) -> Check:
    """Check that a package is installed in a version that fits."""
    version = _version_of(package)
    remedy = f"pip install '{_PACKAGE}' into this environment ({sys.prefix}); it brings {package} {wanted or 'along'}"
    if version is None:
        return Check(package, False, "not installed", remedy)
    return Check(package, version.startswith(wanted), version, remedy)


def check_java(environment: Mapping[str, str], run: Callable[[str], str] | None = None) -> Check:
    """Check the Java that PyFlink would start: that of JAVA_HOME, else the first on PATH."""
    home = environment.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java", path=environment.get("PATH"))
    remedy = f"install a JDK {_OLDEST_JAVA} and set JAVA_HOME to it"
    if java is None:
        return Check("Java", False, "no java on PATH, and JAVA_HOME is not set", remedy)
    try:
        answer = (run or _java_version)(java)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("Java", False, f"{java} cannot be run: {error}", remedy)
    match = re.search(r'version "(\d+)(?:\.(\d+))?', answer)
    if match is None:
        return Check("Java", False, f"{java} answered {answer.strip()!r}", remedy)
    # Before 9 the version was 1.8.
    major = int(match[2] or 0) if match[1] == "1" else int(match[1])
    return Check("Java", major >= _OLDEST_JAVA, f"{major} at {java}", remedy)


def check_jar(jar: Path, version: str | None) -> Check:
    """Check that the Java half is there and of the same release."""
    name = "Java half"
    if not jar.is_file():
        return Check(
            name, False, f"{jar} is missing", "run `make jar` in a source tree, or install the package from a wheel"
        )
    found = _jar_version(jar)
    remedy = f"it must be of the release of the Python package, {version}: run `make jar`, or install the package again"
    return Check(name, found is not None and version in (None, found), f"version {found or 'unknown'} at {jar}", remedy)


def check_parent_first(options: Mapping[str, Any]) -> Check:
    """Check that all jobs of a TaskManager share the classes of pemja, whose native library can be loaded once."""
    patterns = str(options.get(_PARENT_FIRST, ""))
    return Check(
        _PARENT_FIRST,
        "pemja" in patterns,
        patterns or "not set",
        f"add `{_PARENT_FIRST}: pemja.` to config.yaml of JobManager and TaskManagers and restart them; "
        "without it only the first job on a TaskManager can embed Python",
    )


def check_library(libraries: Path) -> Check:
    """Check that flink-python belongs to the cluster and not to each job."""
    found = sorted(libraries.glob("flink-python*.jar"))
    remedy = f"copy or link opt/flink-python-*.jar of Flink into {libraries}, on JobManager and TaskManagers"
    return Check("flink-python in lib/", bool(found), str(found[0].name if found else f"none in {libraries}"), remedy)


def check_executable(
    options: Mapping[str, Any], version: Sequence[int], run: Callable[[str], str] | None = None
) -> Check:
    """Check that the interpreter of the TaskManagers has the minor version of this one, which made the plan."""
    executable = str(options.get("python.executable", "python"))
    wanted = ".".join(map(str, version))
    remedy = (
        f"set `python.executable` to the absolute path of a Python {wanted} that has {_PACKAGE}, on every TaskManager"
    )
    try:
        found = (run or _python_version)(executable).strip()
    except (OSError, subprocess.SubprocessError) as error:
        return Check("python.executable", False, f"{executable} cannot be run: {error}", remedy)
    return Check("python.executable", found == wanted, f"{executable} is Python {found}", remedy)


def _read_configuration(file: Path) -> dict[str, Any]:
    # Comes with apache-flink; imported late, because the checks above say so when that is missing.
    from ruamel.yaml import YAML  # noqa: PLC0415

    return dict(_flattened(YAML(typ="safe").load(file.read_text(encoding="utf-8")) or {}))


def _flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Go through the options of a file that may nest them or write dotted names."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _jar_version(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as archive:
            for name in filter(_JAR_PROPERTIES.fullmatch, archive.namelist()):
                match = re.search(r"^version=(.+)$", archive.read(name).decode("utf-8"), re.MULTILINE)
                return match[1].strip() if match else None
    except zipfile.BadZipFile:
        return None
    return None


def _java_version(java: str) -> str:
    done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - the Java in use
    return done.stderr or done.stdout


def _python_version(executable: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - as configured
    return done.stdout
