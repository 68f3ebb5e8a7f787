"""A Flink mini cluster for the whole suite: one JobManager and one TaskManager, in the JVM that PyFlink has started.

Jobs are submitted to it as to a session cluster, each with a class loader of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    Encoder,
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from pyflink.java_gateway import get_gateway

from flink_agents_subagent import Agent, AgentsExecutionEnvironment
from flink_agents_subagent._flink.shipping import JAR, add_jar

__all__ = ["Folder", "Job", "MiniCluster"]

_PACKAGE = "io.github.flinkagents.subagent."
_SLOTS = 8
_SECONDS = 40.0


class MiniCluster:
    """The cluster; made once for a test session."""

    def __init__(self) -> None:
        self.jvm = get_gateway().jvm
        config = self.configuration(
            {
                "rest.port": "0",
                "rest.bind-port": "0",
                "taskmanager.memory.managed.size": "128m",
                "taskmanager.memory.network.min": "64m",
                "taskmanager.memory.network.max": "64m",
                "metrics.fetcher.update-interval": "50",
                # Flink's file source sometimes misses that it is to close, and would wait for half a minute.
                "source.reader.close.timeout": "1000",
            }
        )
        package = self.jvm.org.apache.flink.runtime.minicluster
        builder = package.MiniClusterConfiguration.Builder().setConfiguration(config)
        self.java = package.MiniCluster(
            builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(_SLOTS).withRandomPorts().build()
        )
        self.java.start()
        self.address = self.java.getRestAddress().get()
        # Makes the classes of our jar known to this process, too.
        add_jar(self.environment())

    def configuration(self, options: dict[str, str]) -> Any:
        """Return a Java configuration."""
        config = self.jvm.org.apache.flink.configuration.Configuration()
        for name, value in options.items():
            config.setString(name, value)
        return config

    def environment(self, parallelism: int = 1, **options: str) -> StreamExecutionEnvironment:
        """Return an environment that submits to this cluster; options as `state_backend_type` for `state.backend.type`."""
        told = {name.replace("__", "\0").replace("_", ".").replace("\0", "-"): value for name, value in options.items()}
        config = self.configuration(
            {
                "python.executable": sys.executable,
                "pipeline.object-reuse": "true",
                # Long: a test takes its checkpoints itself.
                "execution.checkpointing.interval": "1 h",
                "restart-strategy.type": "fixed-delay",
                "restart-strategy.fixed-delay.delay": "10 ms",
                "restart-strategy.fixed-delay.attempts": "100",
                **told,
            }
        )
        jars = get_gateway().new_array(self.jvm.String, 1)
        jars[0] = str(JAR)
        remote = self.jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
        java = remote.createRemoteEnvironment(self.address.getHost(), self.address.getPort(), config, jars)
        environment = StreamExecutionEnvironment(java)
        environment.set_parallelism(parallelism)
        return environment

    def threads(self, prefix: str = "") -> int:
        """Return how many threads the JVM has whose names begin so."""
        # One crossing; asking thread by thread would see another moment each time.
        shown = self.jvm.java.lang.Thread.getAllStackTraces().keySet().toString()
        return len(re.findall(rf"Thread\[{re.escape(prefix)}", shown))

    def objects(self, name: str) -> int:
        """Return how many objects of a class of our jar the JVM has that can be reached."""
        tool = Path(self.jvm.java.lang.System.getProperty("java.home"), "bin", "jcmd")
        process = str(self.jvm.java.lang.ProcessHandle.current().pid())
        command = [tool, process, "GC.class_histogram"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - a tool of the JDK, on our own process
        # A class loader for each job: the class is there several times.
        return sum(int(count) for count in re.findall(rf"(\d+) +\d+ +{re.escape(_PACKAGE + name)}\s", done.stdout))

    def close(self) -> None:
        """Stop the cluster."""
        self.java.closeAsync().get()


class Folder:
    """The folders of one job: inputs, outputs, store, savepoints."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.options: dict[str, str] = {}
        """Options of the agent that works here."""
        self._fed = 0
        for name in ("inputs", "outputs", "store", "savepoints"):
            (path / name).mkdir()

    def feed(self, *orders: dict[str, Any]) -> None:
        """Give the job these inputs, in order, all at once."""
        self._fed += 1
        hidden = self.path / "inputs" / f".{self._fed}"
        hidden.write_text("".join(json.dumps(order) + "\n" for order in orders))
        hidden.rename(self.path / "inputs" / f"{self._fed:04}.txt")

    def outputs(self) -> list[str]:
        """Return the outputs that are committed, sorted; each once for each time that it was emitted."""
        files = [file for file in (self.path / "outputs").rglob("part-*") if not file.name.startswith(".")]
        return sorted(json.loads(line) for file in files for line in file.read_text().splitlines())


class Job:
    """A running job that reads a folder and commits its outputs with checkpoints."""

    def __init__(self, cluster: MiniCluster, client: Any) -> None:
        self._cluster = cluster
        self._client = client
        self.id = client.getJobID()

    @classmethod
    def run(
        cls,
        cluster: MiniCluster,
        folder: Folder,
        agent: Agent,
        parallelism: int = 1,
        jars: Sequence[Path] = (),
        **options: str,
    ) -> Job:
        """Submit an agent behind a folder that is watched, with further jars."""
        flink = cluster.environment(parallelism, **options)
        if jars:
            flink.add_jars(*(jar.as_uri() for jar in jars))
        source = FileSource.for_record_stream_format(
            StreamFormat.text_line_format(), (folder.path / "inputs").as_uri()
        ).monitor_continuously(Duration.of_millis(20))
        stream = flink.from_source(source.build(), WatermarkStrategy.no_watermarks(), "inputs", Types.STRING())
        return cls.attach(cluster, folder, agent, flink, stream.set_parallelism(1))

    @classmethod
    def attach(
        cls, cluster: MiniCluster, folder: Folder, agent: Agent, flink: StreamExecutionEnvironment, stream: DataStream
    ) -> Job:
        """Submit an agent behind a stream of JSON texts."""
        env = AgentsExecutionEnvironment.get_execution_environment(flink)
        env.set_option("store.embedded.dir", str(folder.path / "store"))
        for name, value in folder.options.items():
            env.set_option(name, value)
        sink = FileSink.for_row_format((folder.path / "outputs").as_uri(), Encoder.simple_string_encoder())
        policy = RollingPolicy.on_checkpoint_rolling_policy()
        outputs = env.from_datastream(stream, key_field="key").apply(agent).to_json_datastream()
        outputs.sink_to(sink.with_rolling_policy(policy).build()).uid("sink")
        return cls(cluster, flink._j_stream_execution_environment.executeAsync(agent.name))

    def checkpoint(self) -> None:
        """Wait until all tasks run, take a checkpoint and wait until it is complete."""
        until(self._checkpoint, "a checkpoint")

    def commit(self, folder: Folder, outputs: int) -> list[str]:
        """Take checkpoints until so many outputs are committed; return them."""

        def committed() -> bool:
            self.checkpoint()
            return len(folder.outputs()) >= outputs

        until(committed, f"the commit of {outputs} outputs")
        return folder.outputs()

    def _checkpoint(self) -> bool:
        try:
            self._cluster.java.triggerCheckpoint(self.id).get()
        except Py4JJavaError as error:
            # Before all tasks run, and while a job restarts, Flink refuses; a job that is over will never take one.
            if self.is_over():
                raise AssertionError("the job ended before its checkpoint") from error
            return False
        return True

    def stop(self, folder: Folder) -> str:
        """Stop with a savepoint and return its path."""
        kind = self._cluster.jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL
        target = (folder.path / "savepoints").as_uri()
        return str(self._cluster.java.stopWithSavepoint(self.id, target, False, kind).get())

    def cancel(self) -> None:
        """Cancel and wait until it is over."""
        self._client.cancel().get()
        self.wait()

    def wait(self) -> str | None:
        """Wait until the job is over and return its failure as text, None when it has none."""
        try:
            self._client.getJobExecutionResult().get()
        except Py4JJavaError as error:
            utilities = self._cluster.jvm.org.apache.flink.util.ExceptionUtils
            return str(utilities.stringifyException(error.java_exception))
        return None

    def restarts(self) -> int:
        """Return how often the job has restarted."""
        return int(self.metric("/jobs/{job}/metrics?get=numRestarts"))

    def metric(self, path: str) -> float:
        """Return the only metric that a REST path gives."""
        found = self.rest(path)
        return float(found[0]["value"]) if found else 0.0

    def rest(self, path: str) -> Any:
        """Return what the REST API says; `{job}` stands for the job's id."""
        base = self._cluster.address.toString()
        with urllib.request.urlopen(base + path.format(job=self.id.toString())) as response:  # noqa: S310 - our own cluster
            return json.load(response)

    def is_over(self) -> bool:
        """Whether the job has ended."""
        return bool(self._client.getJobStatus().get().isGloballyTerminalState())


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that Flink tells nobody, at a deadline."""
    pause = threading.Event()
    for _ in range(int(_SECONDS / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError(f"{what} did not come about within {_SECONDS} s")
