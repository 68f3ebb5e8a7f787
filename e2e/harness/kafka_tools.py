"""Kafka's own command line tools, as the scripts in a Kafka distribution's `bin` run them. Owns their programs, not their arguments."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from e2e.harness.broker_files import BROKER_FOLDER, class_path, java
from e2e.harness.processes import HarnessError

__all__ = ["TOOLS", "run_kafka_tool"]

TOOLS: Mapping[str, str] = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}
"""The main class that each script starts."""
_LOGGING = BROKER_FOLDER / "tools.log4j2.properties"


def run_kafka_tool(script: str, arguments: Sequence[str], *, stdin: str = "", within_s: float = 120) -> str:
    """Run a tool to its end and return what it printed.

    Raises:
        HarnessError: It ended with another status than 0, logged an error other than that no message came any more, or took
            longer than `within_s`.
    """
    command = [
        java(),
        "-XX:TieredStopAtLevel=1",
        f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
        "-cp",
        class_path(),
    ]
    command += [TOOLS[script], *arguments]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=within_s, check=False)
    except subprocess.TimeoutExpired as late:
        raise HarnessError(f"{script} {' '.join(arguments)}: not within {within_s:g} s") from late
    # The producer tells of messages that it could not send in its log only.
    errors = [line for line in done.stderr.splitlines() if " ERROR " in line and "consumer process" not in line]
    if done.returncode != 0 or errors:
        raise HarnessError(f"{script} {' '.join(arguments)} failed:\n{done.stderr[-3000:]}")
    return done.stdout
