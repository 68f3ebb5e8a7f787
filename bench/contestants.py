"""Who takes part, and with which environment."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.environments import HERE, Environment, Recipe, peer, project

_MIRROR_VARIABLE = "FLINK_AGENTS_MAVEN_MIRROR"
_FALLBACK_NOTE = "0.2.0: the source package of 0.3.1 could not be built, see bench/.peers/flink-agents/peer.json"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One column of comparison: the folder of its jobs and the words for it."""

    name: str
    title: str
    package: str

    @property
    def environment(self) -> Environment:
        """Where its jobs run; made on first use."""
        return _flink_agents() if self.name == "flink_agents" else _project()

    def job(self, measure: str) -> str | None:
        """Return the module of its job for a measure, None if it has none."""
        module = f"{self.package}.{measure}"
        path = HERE.parent / Path(*module.split(".")).with_suffix(".py")
        return module if path.exists() else None


OURS = Contestant("ours", "flink_agents_subagent", "bench.ours")
CONTESTANTS = (
    OURS,
    Contestant("flink_agents", "Flink Agents", "bench.peers.flink_agents"),
    Contestant("pyflink", "PyFlink, thread mode", "bench.peers.pyflink"),
    Contestant("bare", "bare operator (limit)", "bench.peers.bare"),
)


@functools.cache
def _project() -> Environment:
    return project()


@functools.cache
def _flink_agents() -> Environment:
    wanted = Recipe("flink-agents==0.3.1", ("apache-flink==2.3.0",))
    address = None if _MIRROR_VARIABLE in os.environ else _maven_address()
    mirrored = [Recipe(wanted.package, wanted.beside, {_MIRROR_VARIABLE: address})] if address else []
    # 0.2.0 carries its jars, the newest of them for Flink 2.2.
    fallback = Recipe("flink-agents==0.2.0", ("apache-flink==2.2.1",))
    return peer("flink-agents", (wanted, *mirrored, fallback), _FALLBACK_NOTE)


def _maven_address() -> str | None:
    """Return where Maven gets its packages from on this machine; the build of Flink Agents does not ask it."""
    maven = shutil.which(os.environ.get("MAVEN", "mvn"))
    if maven is None:
        return None
    command = [maven, "-B", "-q", "-DforceStdout", "help:evaluate"]
    command.append("-Dexpression=project.repositories[0].url")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Maven wraps the value in colour codes, also when told not to.
    found = re.search(r"https?://[^\s\x1b]+", done.stdout)
    return found.group() if found and done.returncode == 0 else None
