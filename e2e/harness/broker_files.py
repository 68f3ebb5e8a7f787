"""What a Kafka broker is started from: its class path and its configuration. Owns finding and writing them; starts no broker."""

from __future__ import annotations

import os
import subprocess
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

from e2e.harness.processes import HarnessError

__all__ = ["BROKER_FOLDER", "class_path", "write_configuration"]

BROKER_FOLDER = Path(__file__).resolve().parent.parent / "broker"
_CLASS_PATH = BROKER_FOLDER / "target" / "classpath"
_MAVEN_S = 600


def class_path() -> str:
    """Return the broker's class path; the first call ever lets Maven download the broker.

    Raises:
        HarnessError: Maven could not; shows what it said.
    """
    pom = BROKER_FOLDER / "pom.xml"
    if not _is_current(pom):
        _resolve(pom)
    return _CLASS_PATH.read_text(encoding="utf-8").strip()


def write_configuration(folder: Path, port: int, controller_port: int, options: Mapping[str, str]) -> Path:
    """Write `server.properties`, and a formatted data folder if there is none; return the file."""
    data = folder / "data"
    if not data.exists():
        data.mkdir()
        # What `kafka-storage format` writes, without another JVM.
        cluster = uuid.uuid4().hex[:22]
        (data / "meta.properties").write_text(f"version=1\ncluster.id={cluster}\nnode.id=1\n", encoding="utf-8")
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "log.dirs": str(data),
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        **options,
    }
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), encoding="utf-8")
    return file


def _is_current(pom: Path) -> bool:
    return (
        _CLASS_PATH.exists()
        and _CLASS_PATH.stat().st_mtime >= pom.stat().st_mtime
        and all(Path(jar).exists() for jar in _CLASS_PATH.read_text(encoding="utf-8").strip().split(os.pathsep))
    )


def _resolve(pom: Path) -> None:
    _CLASS_PATH.parent.mkdir(exist_ok=True)
    # Beside the file first: another run may be reading it.
    handle, draft = tempfile.mkstemp(prefix="classpath", dir=_CLASS_PATH.parent)
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
        raise HarnessError(f"Maven could not resolve the broker:\n{done.stdout.strip()}")
    Path(draft).replace(_CLASS_PATH)
