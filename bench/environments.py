"""Where jobs run: the environment of the driver, and one virtual environment of its own for each peer that needs it.

A peer's environment is made on first use below `.peers` and kept. Its `peer.json` says what was installed and, where it is
not what was wanted, why.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
PEERS = HERE / ".peers"
_PROBE = "import importlib.metadata, pathlib, pyflink; \
print(importlib.metadata.version('apache-flink')); print(pathlib.Path(pyflink.__file__).parent)"


class SetupError(Exception):
    """An environment could not be made; the message says what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to install a peer: the package that is built or fetched alone first, so that failing costs little."""

    package: str
    beside: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python that jobs run with."""

    python: Path
    flink_version: str
    pyflink: Path
    note: str = ""


def project() -> Environment:
    """Return the environment of the driver itself.

    Raises:
        SetupError: It has no PyFlink.
    """
    return _probed(Path(sys.executable), "`make bench` makes an environment with PyFlink and runs the driver in it")


def peer(name: str, recipes: tuple[Recipe, ...], note: str) -> Environment:
    """Return a peer's environment; make it by the first recipe that works if it is not there.

    Args:
        name: Its folder below `.peers`.
        recipes: The wanted one first.
        note: What the table says where another recipe than the first one was used.

    Raises:
        SetupError: None of the recipes works.
    """
    folder = PEERS / name
    record = folder / "peer.json"
    if not record.exists():
        _make(folder, recipes)
    made = json.loads(record.read_text(encoding="utf-8"))
    wanted = made["package"] == recipes[0].package
    return _probed(folder / "bin/python", f"remove {folder} and try again", "" if wanted else note)


def _make(folder: Path, recipes: tuple[Recipe, ...]) -> None:
    python = _old_enough_python()
    failures: list[str] = []
    for recipe in recipes:
        print(f"==> {folder.name}: installing {recipe.package} (some minutes)", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        _checked([python, "-m", "venv", str(folder)], {})
        try:
            _install(folder, recipe)
        except SetupError as error:
            failures.append(f"{recipe.package}: {error}")
            print(f"    not possible: {error}", flush=True)
            continue
        made = {"failures": failures} | asdict(recipe)
        (folder / "peer.json").write_text(json.dumps(made, indent=2), encoding="utf-8")
        return
    shutil.rmtree(folder, ignore_errors=True)
    raise SetupError(f"{folder.name} could not be installed:\n" + "\n".join(failures))


def _install(folder: Path, recipe: Recipe) -> None:
    pip = [str(folder / "bin/pip"), "--disable-pip-version-check", "--quiet"]
    wheels = folder / "wheels"
    _checked([*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), recipe.package], recipe.variables)
    _checked([*pip, "install", *map(str, wheels.glob("*.whl")), *recipe.beside], recipe.variables)
    shutil.rmtree(wheels)


def _checked(command: list[str], variables: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, env=os.environ | dict(variables), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SetupError(_cause(done.stdout + done.stderr))


def _cause(output: str) -> str:
    """Return the line that names the fault, else the last one."""
    named: list[str] = re.findall(r"^\s*([\w.]*(?:Error|Exception): .+)$", output, re.MULTILINE)
    return (named or output.split("\n\n") or ["no output"])[-1].strip()


def _old_enough_python() -> str:
    if sys.hexversion < 0x030C0000:
        return sys.executable
    found = shutil.which("python3.11") or shutil.which("python3.10")
    if found is None:
        raise SetupError("the peers need Python 3.10 or 3.11: install one of them and put it on PATH")
    return found


def _probed(python: Path, remedy: str, note: str = "") -> Environment:
    done = subprocess.run([str(python), "-c", _PROBE], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"{python} has no PyFlink: {remedy}")
    version, folder = done.stdout.split()
    return Environment(python, version, Path(folder), note)
