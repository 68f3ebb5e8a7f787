"""The cluster and the brokers of a scenario, which the next one takes over if they suit it. Owns their life."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import final

from e2e.harness.broker import KafkaBroker
from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.topic_tool import TopicTool

__all__ = ["World", "Worlds"]

_ROOT = Path(__file__).resolve().parents[2]
# Slots of the one TaskManager: two jobs of two subtasks.
_SLOTS = 4
_BROKER_OPTIONS = {
    # So that a right can be taken away while a job runs.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


@dataclass(frozen=True, slots=True)
class World:
    """A running cluster beside running brokers."""

    cluster: FlinkCluster
    brokers: tuple[KafkaBroker, ...]

    @property
    def addresses(self) -> str:
        """As `bootstrap.servers` takes them."""
        return ",".join(broker.address for broker in self.brokers)

    @property
    def tool(self) -> TopicTool:
        """Administers the topics."""
        return TopicTool(self.addresses)


@final
class Worlds:
    """Makes worlds, one at a time.

    Guarantee: at the end of the `with` block no process of any of them lives.
    """

    def __init__(self, folder: Path) -> None:
        """Describe worlds that work below `folder`, which exists."""
        self._folder = folder
        self._made = 0
        self._current: World | None = None
        self._running = ExitStack()

    def __enter__(self) -> Worlds:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.forget()

    def get(self, brokers: int) -> World:
        """Return a world with so many brokers and one TaskManager: the last one if it has as many, else a new one."""
        if self._current is None or len(self._current.brokers) != brokers:
            self.forget()
            self._current = self._make(brokers)
        return self._current

    def forget(self) -> None:
        """End the world: something went wrong with it, or it is not needed any more."""
        self._current = None
        self._running.close()

    def _make(self, brokers: int) -> World:
        self._made += 1
        folder = self._folder / f"world-{self._made}"
        started: list[KafkaBroker] = []
        for number in range(brokers):
            place = folder / f"broker-{number + 1}"
            place.mkdir(parents=True)
            beside = started[0] if started else None
            started.append(self._running.enter_context(KafkaBroker(place, _BROKER_OPTIONS, beside=beside)))
        place = folder / "cluster"
        place.mkdir()
        settings = ClusterSettings(slots=_SLOTS, python_path=[_ROOT])
        return World(self._running.enter_context(FlinkCluster(place, settings)), tuple(started))
