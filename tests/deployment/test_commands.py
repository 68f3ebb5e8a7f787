"""What the containers run is what `python -m examples.kafka_to_kafka` runs, which is tested with real processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.harness import broker, cluster, server
from e2e.harness.processes import ManagedProcess
from examples.demo.run import FLIGHTS
from examples.kafka_to_kafka import image, run
from tests.deployment.compose import command, services

_JOB_ID = "0123456789abcdef0123456789abcdef"
_ADDRESSES = ("listeners", "advertised.listeners", "controller.quorum.voters", "log.dirs")
"""What differs between containers and one machine."""


class FakeProcess:
    """A process of which only the command is kept; its log says what starters wait for."""

    commands: dict[str, list[str]]
    is_alive = False

    def __init__(self, name: str, words: Sequence[str | Path], log: Path, env: Any = None) -> None:
        self.commands[name] = [str(word) for word in words]
        if "--announce" in self.commands[name]:
            Path(self.commands[name][-1]).write_text("8090")

    def log_tail(self, lines: int = 30) -> str:
        """Return all the marks."""
        return f"Kafka Server started\nJob has been submitted with JobID {_JOB_ID}"

    def wait(self, within_s: float) -> int:
        """Return success."""
        return 0

    def check_alive(self) -> None:
        """Pass for alive."""

    def resume(self) -> None:
        """Do nothing."""

    kill = terminate = resume


class FakeRest:
    """A JobManager with one job, which has finished."""

    def is_up(self) -> bool:
        """Return True."""
        return True

    def status(self, job: str) -> str:
        """Return the end."""
        return "FINISHED"

    def failures(self, job: str) -> list[str]:
        """Return none."""
        return []

    def stop(self, job: str, directory: str) -> str:
        """Return a request."""
        return "request"

    def savepoint(self, job: str, request: str) -> str:
        """Return a path."""
        return "savepoint"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, list[str]]:
    """The commands of a run, by the names of its processes and tools, with the words of the containers for what is local."""
    commands: dict[str, list[str]] = {}
    fake = type("Process", (FakeProcess,), {"commands": commands})
    for module in (broker, cluster, server):
        monkeypatch.setattr(module, ManagedProcess.__name__, fake)
    monkeypatch.setattr(broker, "class_path", lambda: "jars")

    def keep(script: str, arguments: Sequence[str], stdin: str = "") -> str:
        commands[script] = [f"/opt/kafka/bin/{script}", *arguments]
        return ""

    monkeypatch.setattr(run, "run_kafka_tool", keep)
    monkeypatch.setattr(run, "commands_below", lambda *parts: [])
    jars = [Path(word) for word in command("job") if word.endswith(".jar")]
    monkeypatch.setattr(run, "resolved_jars", lambda folder: jars)
    made = run.KafkaRun(tmp_path, run.Plan(0, ()), [], lambda text: None)
    made.cluster.rest = FakeRest()  # type: ignore[assignment]
    made.perform()

    package = "/opt/venv/lib/python3.11/site-packages"
    words = {
        made._broker.address: "kafka:9092",
        made.desks.url: "http://desks:8090",
        str(made.cluster.settings.python): str(image.PYTHON),
        str(FLIGHTS.parents[3]): package,
        str(made.desks.log): "/data/effects.jsonl",
    }
    return {name: [_replaced(word, words) for word in line] for name, line in commands.items()}


def _replaced(word: str, words: dict[str, str]) -> str:
    for local, remote in words.items():
        word = word.replace(local, remote)
    return word


def _by_name(words: Sequence[str]) -> list[str]:
    return [Path(words[0]).name, *words[1:]]


def test_flink_is_started_in_the_same_way(started: dict[str, list[str]]) -> None:
    """JobManager and TaskManager are started by the same scripts; only a run that kills gives its TaskManagers names."""
    assert _by_name(started["JobManager"]) == command("jobmanager")
    assert [word for word in _by_name(started["taskmanager-1"]) if not word.startswith("-D")] == command("taskmanager")


def test_the_job_is_submitted_in_the_same_way(started: dict[str, list[str]]) -> None:
    """The command is the same up to the options by which a run observes the job."""
    same, more = command("job"), _by_name(started["client"])

    assert more[: len(same)] == same
    assert more[len(same) :: 2] == ["--retained-checkpoints", "--checkpoint-ms"]


def test_topics_are_filled_and_read_in_the_same_way(started: dict[str, list[str]]) -> None:
    """Producer and consumer are the same tools with the same arguments, the producer with a file instead of a pipe."""
    assert [*started["kafka-console-producer.sh"], "<", "/data/flights.tsv"] == command("flights")
    assert started["kafka-console-consumer.sh"] == command("watch")


def test_the_desks_are_started_in_the_same_way(started: dict[str, list[str]]) -> None:
    """The same module with the same latency, listening to other containers too."""
    local, remote = _by_name(started["effects"]), command("desks")
    announced = remote.index("--announce")

    assert local[:announced] == remote[:announced]
    assert remote[announced + 2 :] == ["--host", "0.0.0.0", "--port", "8090"]  # noqa: S104 - compared, not bound


def test_the_broker_has_the_same_properties(started: dict[str, list[str]]) -> None:
    """Each property but the addresses is the same; the image takes them from its environment, by a rule of its own."""
    lines = Path(started["Kafka broker"][-1]).read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines if line)
    environment = services()["kafka"]["environment"]

    named = {f"KAFKA_{name.replace('.', '_').upper()}": value for name, value in properties.items()}
    addresses = {f"KAFKA_{name.replace('.', '_').upper()}" for name in _ADDRESSES}
    assert named.keys() == environment.keys()
    assert {name: value for name, value in named.items() if name not in addresses} == {
        name: value for name, value in environment.items() if name not in addresses
    }
