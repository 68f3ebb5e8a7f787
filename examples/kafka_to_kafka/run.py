"""One run of the job between two topics of a broker of its own. Owns what lies in them; `killed_run` has the course."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from e2e.harness.broker import KafkaBroker
from e2e.harness.kafka_journal import read_kafka_journal
from e2e.harness.kafka_tools import run_kafka_tool
from e2e.harness.maven import resolved_jars
from e2e.harness.process_tree import commands_below
from e2e.harness.processes import HarnessError
from examples.kafka_to_kafka.commands import BROKER_PROPERTIES, consume, job_arguments, produce
from examples.kafka_to_kafka.job import NAME
from examples.kafka_to_kafka.messages import message_lines
from examples.killed_run import KilledRun, Plan

__all__ = ["KafkaRun", "Plan"]

_FOLDER = Path(__file__).parent
_JOB = _FOLDER / "job.py"
_STORE_TOPIC = f"flink-agents-subagent.{NAME}.agent-DestinationWatch"


class KafkaRun(KilledRun):
    """The job with topics for its inputs, its store and its outputs."""

    def __init__(
        self, folder: Path, plan: Plan, flights: Iterable[Mapping[str, Any]], say: Callable[[str], None]
    ) -> None:
        """Prepare a run below `folder`, which is empty; `say` is told what happens."""
        super().__init__(folder, plan, say)
        broker_folder = folder / "broker"
        broker_folder.mkdir()
        self._broker = KafkaBroker(broker_folder, BROKER_PROPERTIES)
        self._messages = message_lines(flights)
        self._outputs: list[str] = []

    def perform(self) -> None:
        """Run the job to its end, with the broker up meanwhile."""
        self.say("Starting a Kafka broker, and filling a topic with the flights")
        with self._broker:
            run_kafka_tool("kafka-console-producer.sh", produce(self._broker.address), stdin=self._messages)
            super().perform()
            self._outputs = self._consume()

    def submit(self) -> str:
        """Submit the job and return its id."""
        # The records are kept, so that the run can tell in the end what was recorded when.
        options = ("--retained-checkpoints", "1000000", "--checkpoint-ms", str(self.plan.checkpoint_ms))
        jars = resolved_jars(_FOLDER)
        return self.cluster.submit(_JOB, *job_arguments(self._broker.address, self.desks.url, jars, *options))

    def is_done(self, job: str) -> bool:
        """Tell whether all calls were made and an output is committed for each message; the job itself never ends."""
        made = {request.key for request in self.desks.requests()}
        is_over = self.cluster.has_finished(job) or len(made) >= self.plan.calls
        return is_over and len(self._consume()) >= self._messages.count("\n")

    def finish(self, job: str) -> None:
        """Stop the job with a savepoint, which commits what there may be left; nobody but its JVM may have worked for it."""
        workers = commands_below("TaskManagerRunner", str(self.folder))
        if workers:
            raise HarnessError(f"the TaskManager has started processes of its own: {'; '.join(workers)}")
        self.cluster.stop_with_savepoint(job)

    def recorded(self) -> frozenset[str]:
        """Return the ids of the calls whose outcome is in the store's topic."""
        journal = read_kafka_journal(self._broker.data, _STORE_TOPIC, NAME)
        return frozenset(record.function_id for record in journal.records if record.kind == "o")

    def outputs(self) -> list[str]:
        """Return the messages that were committed to the output topic by the end of the run."""
        return self._outputs

    def committed_flights(self) -> frozenset[str]:
        """Return the flights whose output is committed by now."""
        return frozenset(json.loads(line)["flight"] for line in self._consume())

    def _consume(self) -> list[str]:
        return run_kafka_tool("kafka-console-consumer.sh", consume(self._broker.address)).splitlines()
