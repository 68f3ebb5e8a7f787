"""A standalone Flink cluster on this machine, whose TaskManagers can be killed. Owns its processes and settings."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import final

from e2e.harness.distribution import FlinkDistribution
from e2e.harness.ports import free_ports
from e2e.harness.processes import HarnessError, ManagedProcess, end, wait_until
from e2e.harness.rest import FlinkRest

__all__ = ["ClusterSettings", "FlinkCluster"]

_SUBMITTED = re.compile(r"Job has been submitted with JobID ([0-9a-f]{32})")
_ENDED = frozenset({"FINISHED", "FAILED", "CANCELED", "SUSPENDED"})
# Settings of a surrounding shell would win over ours.
_FOREIGN = re.compile(r"FLINK_.*|_?PYFLINK_.*|HADOOP_.*|HBASE_.*|JVM_ARGS|SUBMIT_ARGS|PYTHONHOME")
_JAVA_FRAME = re.compile(r"\s+(at [\w.$/]+\(|\.\.\. \d+ more)")
_START_S = 60.0
_SUBMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What a cluster is made of."""

    slots: int = 1
    """Slots of each TaskManager."""
    taskmanager_mib: int = 1280
    """Memory of a TaskManager as Flink counts it; that of the embedded Python comes on top."""
    python: Path = Path(sys.executable)
    """The interpreter of the job and of the TaskManagers; a link into a virtual environment stays one."""
    python_path: Sequence[Path] = ()
    """Folders from which the job and the TaskManagers may import besides that interpreter's own."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of config.yaml, over those below."""

    def flink_options(self, folder: Path, rest_port: int, rpc_port: int) -> dict[str, str]:
        """Return the content of config.yaml."""
        return {
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": str(rpc_port),
            "jobmanager.bind-host": "localhost",
            "jobmanager.memory.process.size": "1024m",
            "taskmanager.host": "localhost",
            "taskmanager.bind-host": "localhost",
            "taskmanager.numberOfTaskSlots": str(self.slots),
            "taskmanager.memory.process.size": f"{self.taskmanager_mib}m",
            "taskmanager.memory.managed.size": "64m",
            "rest.address": "localhost",
            "rest.bind-address": "localhost",
            "rest.port": str(rest_port),
            # These JVMs live for minutes, and most of that time goes into starting them.
            "env.java.opts.all": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder / 'tmp'}",
            # Answers about a job are cached for this long.
            "web.refresh-interval": "200 ms",
            "python.executable": str(self.python),
            "python.client.executable": str(self.python),
            "classloader.parent-first-patterns.additional": "pemja.",
            # A dead TaskManager is noticed when two heartbeats could not be sent to it; the long timeout only
            # matters to one that is silent, as under load on a small machine.
            "heartbeat.interval": "500 ms",
            "heartbeat.timeout": "20 s",
            "heartbeat.rpc-failure-threshold": "2",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000",
            "restart-strategy.fixed-delay.delay": "200 ms",
            "execution.checkpointing.storage": "filesystem",
            "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
            "execution.checkpointing.savepoint-dir": (folder / "savepoints").as_uri(),
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "io.tmp.dirs": str(folder / "tmp"),
            **self.options,
        }


@final
class FlinkCluster:
    """A JobManager and any number of TaskManagers, started by the scripts of the installed Flink.

    Guarantee: at the end of the `with` block none of its processes lives, also after an exception or a signal
    (see `stop_on_signals`). Everything that it writes is below `folder`, which belongs to the caller.
    """

    def __init__(self, folder: Path, settings: ClusterSettings | None = None) -> None:
        """Describe a cluster that works in `folder`, which exists and is empty."""
        self.folder = folder
        self.settings = settings or ClusterSettings()
        self.logs = folder / "logs"
        self._flink = FlinkDistribution.installed()
        self._port, self._rpc_port = free_ports(2)
        self._jobmanager: ManagedProcess | None = None
        self._taskmanagers: dict[str, ManagedProcess] = {}
        self._lost: dict[str, tuple[ManagedProcess, int]] = {}
        """TaskManagers that live but do not count any more, with the length of their log when they were lost."""
        self._clients: list[ManagedProcess] = []
        self._started = 0
        self.rest = FlinkRest(self._port)

    def __enter__(self) -> FlinkCluster:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def taskmanagers(self) -> tuple[str, ...]:
        """The names of the TaskManagers started and not stopped or killed, oldest first."""
        return tuple(self._taskmanagers)

    def start(self, taskmanagers: int = 1) -> None:
        """Start the JobManager and TaskManagers; returns when the JobManager answers.

        A job that is submitted then waits for the TaskManagers.
        """
        for name in ("logs", "pids", "tmp", "checkpoints", "savepoints"):
            (self.folder / name).mkdir()
        self._flink.link_libraries(self.folder / "lib")
        options = self.settings.flink_options(self.folder, self._port, self._rpc_port)
        self._flink.write_configuration(self.folder / "conf", options)
        self._launch_jobmanager()
        for _ in range(taskmanagers):
            self.start_taskmanager()
        wait_until(self.rest.is_up, "the JobManager answers", _START_S, self._processes())

    def kill_jobmanager(self) -> int:
        """Kill the JobManager with −9, and its jobs with it, and return the `time.monotonic_ns()` before the signal."""
        process, self._jobmanager = self._running_jobmanager(), None
        killed_ns = time.monotonic_ns()
        process.kill()
        return killed_ns

    def start_jobmanager(self) -> None:
        """Start a JobManager in the place of one that was killed; it knows no job. Returns when it answers."""
        self._launch_jobmanager()
        wait_until(self.rest.is_up, "the JobManager answers", _START_S, self._processes())

    def stop(self) -> None:
        """End all processes of the cluster."""
        for client in self._clients:
            # Its JVM is a child of it, and a killed client leaves none behind.
            client.kill()
        for lost, _ in self._lost.values():
            # One that is paused would not hear of an orderly end.
            lost.kill()
        end(self._processes())
        self._taskmanagers.clear()
        self._lost.clear()
        self._jobmanager = None

    def start_taskmanager(
        self, variables: Mapping[str, str] | None = None, options: Mapping[str, str] | None = None
    ) -> str:
        """Start a TaskManager and return its name; `wait_for_taskmanager` tells when it takes part.

        Args:
            variables: Environment variables of this one.
            options: Options of Flink for this one.
        """
        self._started += 1
        name = f"taskmanager-{self._started}"
        script, log = self._flink.script("taskmanager.sh"), self.logs / f"{name}.log"
        command: list[str | Path] = [script, "start-foreground", f"-Dtaskmanager.resource-id={name}"]
        command += [f"-D{option}={value}" for option, value in (options or {}).items()]
        environment = {**self._environment(with_libraries=True), **(variables or {})}
        self._taskmanagers[name] = ManagedProcess(name, command, log, env=environment)
        return name

    def wait_for_taskmanager(self, name: str, within_s: float = _START_S) -> None:
        """Return when the JobManager counts the TaskManager as its own."""
        wait_until(
            lambda: name in self.rest.taskmanagers(), f"{name} takes part in the cluster", within_s, self._processes()
        )

    def kill_taskmanager(self, name: str) -> int:
        """Kill a TaskManager with −9 and return the `time.monotonic_ns()` before the signal; it is dead by then.

        Nothing that the process did can be later than the return of this method.
        """
        process = self._taskmanagers.pop(name)
        killed_ns = time.monotonic_ns()
        process.kill()
        return killed_ns

    def wait_for_death(self, name: str, reason: str, within_s: float) -> int:
        """Return the `time.monotonic_ns()` at which a TaskManager was found dead that had to end itself.

        Raises:
            HarnessError: It lives on, or the end of its log does not give this reason.
        """
        process = self._taskmanagers.pop(name)
        try:
            wait_until(lambda: not process.is_alive, f"{name} dies ({reason})", within_s, self._processes())
        finally:
            process.kill()
        if reason not in process.log_tail(200):
            raise HarnessError(f"{name} ended, but not of {reason!r}; the end of its log:\n{process.log_tail()}")
        return time.monotonic_ns()

    def lose_taskmanager(self, name: str) -> int:
        """Count a TaskManager as lost, though it goes on; return the `time.monotonic_ns()`."""
        process = self._taskmanagers.pop(name)
        self._lost[name] = process, process.log.stat().st_size
        return time.monotonic_ns()

    def pause_taskmanager(self, name: str) -> int:
        """Stop a TaskManager in its tracks, and count it as lost; return the `time.monotonic_ns()` after the signal."""
        self._taskmanagers[name].pause()
        return self.lose_taskmanager(name)

    def resume_taskmanager(self, name: str) -> None:
        """Let a paused TaskManager go on; it stays lost."""
        self._lost[name][0].resume()

    def wait_for_lost_log(self, name: str, pattern: str, within_s: float) -> None:
        """Return when a lost TaskManager has logged something (a regular expression) since it was lost."""
        process, length = self._lost[name]

        def logged() -> bool:
            return re.search(pattern, process.log.read_bytes()[length:].decode("utf-8", "replace")) is not None

        wait_until(logged, f"{name} logs {pattern!r}", within_s)

    def end_lost(self, name: str) -> None:
        """Kill a lost TaskManager, before it takes part again."""
        self._lost.pop(name)[0].kill()

    def stop_taskmanager(self, name: str) -> None:
        """Let a TaskManager shut down in an orderly way."""
        end([self._taskmanagers.pop(name)])

    def submit(
        self,
        script: Path,
        *arguments: str,
        python_files: Sequence[Path] = (),
        restore: str | None = None,
        parallelism: int | None = None,
    ) -> str:
        """Submit a job script by `flink run -d -py` and return the job's id.

        Args:
            script: The job script.
            arguments: What the script gets.
            python_files: What is shipped with the job.
            restore: Path of a checkpoint or savepoint to start from.
            parallelism: Of the job; None: as the cluster says.
        """
        command: list[str | Path] = [self._flink.script("flink"), "run", "-d"]
        command += ["-pyexec", self.settings.python, "-pyclientexec", self.settings.python]
        if restore is not None:
            command += ["-s", restore]
        if parallelism is not None:
            command += ["-p", str(parallelism)]
        if python_files:
            command += ["-pyfs", ",".join(str(file) for file in python_files)]
        client = self._start_client([*command, "-py", script, *arguments], self._environment())
        try:
            wait_until(lambda: not client.is_alive, f"the client submits {script}", _SUBMIT_S, self._processes())
        finally:
            client.kill()
        found = _SUBMITTED.search(client.log_tail(1000))
        if client.wait(0) != 0 or found is None:
            raise HarnessError(f"{script} was not submitted:\n{_without_java_frames(client.log_tail(200))}")
        return self._initialized(found[1])

    def submit_from_python(self, script: Path, *arguments: str) -> str:
        """Submit a job script by running it with `SUBMIT_ARGS` and return the job's id; the script goes on running."""
        before = set(self.rest.jobs())
        environment = self._environment()
        environment["SUBMIT_ARGS"] = f"remote -m localhost:{self._port}"
        command: list[str | Path] = [self.settings.python, script, *arguments]
        client = self._start_client(command, environment)
        self._clients.append(client)
        new = wait_until(
            lambda: set(self.rest.jobs()) - before,
            f"{script} submits a job",
            _SUBMIT_S,
            [*self._processes(), client],
        )
        return self._initialized(new.pop())

    def stop_with_savepoint(self, job: str, within_s: float = _START_S) -> str:
        """Stop a job with a savepoint, calls in flight or not, and return the savepoint's path."""
        request = self.rest.stop(job, (self.folder / "savepoints").as_uri())
        return wait_until(
            lambda: self.rest.savepoint(job, request), f"job {job} stops with a savepoint", within_s, self._processes()
        )

    def wait_for_status(self, job: str, status: str, within_s: float) -> None:
        """Return when the job has this status; raises with the job's failure when it ended with another one."""

        def reached() -> bool:
            now = self.rest.status(job)
            if now in _ENDED and now != status:
                raise HarnessError(f"job {job} is {now} instead of {status}:\n{self._last_failure(job)}")
            return now == status

        wait_until(reached, f"job {job} is {status}", within_s, self._processes())

    def has_finished(self, job: str) -> bool:
        """Tell whether the job has finished; raises `HarnessError` when it ended otherwise, or a process died."""
        for process in self._processes():
            process.check_alive()
        status = self.rest.status(job)
        if status in _ENDED - {"FINISHED"}:
            raise HarnessError(f"job {job} is {status}:\n{self._last_failure(job)}")
        return status == "FINISHED"

    def wait_for_checkpoints(self, job: str, completed: int, within_s: float) -> None:
        """Return when at least `completed` checkpoints of the job are complete."""
        wait_until(
            lambda: self.rest.checkpoints(job).completed >= completed,
            f"job {job} has {completed} complete checkpoints",
            within_s,
            self._processes(),
        )

    def wait_until_running(self, job: str, within_s: float) -> None:
        """Return when every subtask runs on a TaskManager that was not killed, or has finished."""

        def runs() -> bool:
            ready = all(
                task.status == "FINISHED" or (task.status == "RUNNING" and task.taskmanager in self._taskmanagers)
                for task in self.rest.subtasks(job)
            )
            return self.has_finished(job) or ready

        wait_until(runs, f"every subtask of job {job} runs", within_s, self._processes())

    def _running_jobmanager(self) -> ManagedProcess:
        if self._jobmanager is None:
            raise HarnessError("there is no JobManager")
        return self._jobmanager

    def _launch_jobmanager(self) -> None:
        script, log = self._flink.script("jobmanager.sh"), self.logs / "jobmanager.log"
        self._jobmanager = ManagedProcess(
            "JobManager", [script, "start-foreground"], log, env=self._environment(with_libraries=True)
        )

    def _last_failure(self, job: str) -> str:
        return _without_java_frames("\n".join(self.rest.failures(job)[:1]))

    def _processes(self) -> list[ManagedProcess]:
        jobmanager = [] if self._jobmanager is None else [self._jobmanager]
        return [*jobmanager, *self._taskmanagers.values()]

    def _environment(self, *, with_libraries: bool = False) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
        python = self.settings.python
        environment |= {
            "FLINK_CONF_DIR": str(self.folder / "conf"),
            "FLINK_LOG_DIR": str(self.logs),
            "FLINK_PID_DIR": str(self.folder / "pids"),
            "TMPDIR": str(self.folder / "tmp"),
            # The embedded interpreter finds its environment by these two.
            "PATH": os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)]),
            "PYTHONEXECUTABLE": str(python),
            "PYTHONPATH": os.pathsep.join(str(folder) for folder in self.settings.python_path),
        }
        if with_libraries:
            environment["FLINK_LIB_DIR"] = str(self.folder / "lib")
        return environment

    def _initialized(self, job: str) -> str:
        """Wait until the job can be asked about its parts, and return it."""
        wait_until(
            lambda: self.rest.status(job) != "INITIALIZING", f"job {job} is initialized", _START_S, self._processes()
        )
        return job

    def _start_client(self, command: Sequence[str | Path], environment: Mapping[str, str]) -> ManagedProcess:
        self._started += 1
        return ManagedProcess("client", command, self.logs / f"client-{self._started}.log", env=environment)


def _without_java_frames(log: str) -> str:
    """Return the log without its Java stack frames, among which the Python traceback of a script is hard to find."""
    return "\n".join(line for line in log.splitlines() if not _JAVA_FRAME.match(line))
