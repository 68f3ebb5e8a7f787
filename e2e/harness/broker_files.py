"""What a Kafka broker is started from: its class path and its configuration. Owns finding and writing them; starts no broker."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from e2e.harness.maven import resolved_jars
from e2e.harness.processes import HarnessError

__all__ = ["BROKER_FOLDER", "Member", "class_path", "java", "write_configuration"]

BROKER_FOLDER = Path(__file__).resolve().parent.parent / "broker"


def class_path() -> str:
    """Return the broker's class path; the first call ever lets Maven download the broker.

    Raises:
        HarnessError: Maven could not; shows what it said.
    """
    return os.pathsep.join(str(jar) for jar in resolved_jars(BROKER_FOLDER))


@dataclass(frozen=True, slots=True)
class Member:
    """A broker's place in its cluster."""

    cluster: str
    controller_port: int
    node: int

    @classmethod
    def first(cls, controller_port: int) -> Member:
        """Return the first member of a new cluster."""
        return cls(uuid.uuid4().hex[:22], controller_port, 1)

    def next(self) -> Member:
        """Return the member after this one."""
        return replace(self, node=self.node + 1)


def java() -> str:
    """Return the `java` to start; raises `HarnessError` when there is none."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None:
        raise HarnessError("there is no java; install a JDK 17, or point JAVA_HOME at one")
    return found


def write_configuration(folder: Path, port: int, member: Member, options: Mapping[str, str]) -> Path:
    """Write `server.properties`, and a formatted data folder if there is none; return the file."""
    data = folder / "data"
    if not data.exists():
        data.mkdir()
        # What `kafka-storage format` writes, without another JVM.
        meta = f"version=1\ncluster.id={member.cluster}\nnode.id={member.node}\n"
        (data / "meta.properties").write_text(meta, encoding="utf-8")
    controller = f"127.0.0.1:{member.controller_port}"
    is_first = member.node == 1
    properties = {
        "process.roles": "broker,controller" if is_first else "broker",
        "node.id": str(member.node),
        "listeners": f"PLAINTEXT://127.0.0.1:{port}" + (f",CONTROLLER://{controller}" if is_first else ""),
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"1@{controller}",
        # How soon the others notice that one is gone.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
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
