"""Runs jobs: each in a process and a scratch folder of its own, one after the other, contestants taking turns."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.catalogue import RATE, Workload
from bench.contestants import Contestant
from bench.environments import HERE, Environment
from bench.jars import jar_for
from bench.protocol import (
    BROKER_DATA_VARIABLE,
    BROKERS_VARIABLE,
    JAR_VARIABLE,
    READING_VARIABLE,
    STARTED_VARIABLE,
    parse,
)
from e2e.harness.broker import KafkaBroker
from e2e.harness.processes import HarnessError

_WORK = HERE / ".work"


@dataclass(frozen=True, slots=True)
class Entry:
    """A contestant that has a job for a workload."""

    workload: Workload
    contestant: Contestant
    module: str


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run of one job gave: its figures, or why there are none. `load` is that of the machine just before."""

    workload: str
    contestant: str
    load: float
    figures: dict[str, Any]
    failure: str = ""


class JobFailedError(Exception):
    """A job ended without figures."""


def entries(workloads: Iterable[Workload], contestants: Iterable[Contestant]) -> list[Entry]:
    """Return the jobs that exist, workload by workload."""
    pairs = (
        (workload, contestant, contestant.job(workload.name)) for workload in workloads for contestant in contestants
    )
    return [Entry(workload, contestant, module) for workload, contestant, module in pairs if module]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run: a quarter of the inputs where it is to be `quick`; `given` sizes in the place of the catalogue's."""

    quick: bool
    given: Mapping[str, int]


def run_all(wanted: list[Entry], runs: int, extent: Extent) -> Iterator[Sample]:
    """Run every job `runs` times, in rounds, so that a slow minute of the machine hits all of them; long ones once."""
    for number in range(runs):
        for entry in wanted:
            if number and entry.workload.is_long:
                continue
            _say(f"[{number + 1}/{runs}] {entry.workload.name} {entry.contestant.title}: ")
            sample = _sample(entry, extent)
            _say(f"{sample.failure or _summary(sample.figures)}\n")
            yield sample


def _say(text: str) -> None:
    print(text, end="", flush=True, file=sys.stderr)


def _summary(figures: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:,.4g}" for name, value in figures.items() if isinstance(value, int | float))


def _sample(entry: Entry, extent: Extent) -> Sample:
    load = os.getloadavg()[0]
    try:
        figures = _run(entry, entry.workload.sizes_of(entry.contestant.name, extent.given, quick=extent.quick))
    except JobFailedError as error:
        return Sample(entry.workload.name, entry.contestant.name, load, {}, str(error))
    if "seconds" in figures:
        figures[RATE] = figures["inputs"] / figures["seconds"]
        # Not compared, but it holds on a busy machine, where the rate does not.
        figures["cpu_us_per_input"] = 1e6 * figures.get("cpu_seconds", 0) / figures["inputs"]
    return Sample(entry.workload.name, entry.contestant.name, load, figures)


def _run(entry: Entry, sizes: dict[str, int]) -> dict[str, Any]:
    environment = entry.contestant.environment
    _WORK.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=_WORK, ignore_cleanup_errors=True) as scratch,
        _broker(Path(scratch), entry.workload) as broker,
    ):
        log = Path(scratch) / "job.log"
        command = [str(environment.python), "-m", entry.module, json.dumps(sizes)]
        variables = _variables(environment, Path(scratch), entry.workload.jvm_options) | broker
        failure = _execute(command, variables, log, entry.workload.timeout_s + 60 * sizes.get("minutes", 0))
        output = log.read_text(encoding="utf-8", errors="replace")
    figures = parse(output)
    if figures is None or failure:
        kept = _WORK / f"{entry.workload.name}-{entry.contestant.name}.log"
        kept.write_text(output, encoding="utf-8")
        reason = failure or "it printed no line of figures"
        raise JobFailedError(f"failed: {reason}; see {kept.relative_to(HERE.parent)}")
    return figures


@contextlib.contextmanager
def _broker(scratch: Path, workload: Workload) -> Iterator[dict[str, str]]:
    """Run a broker, the same for all contestants, and yield the variables by which a job finds it; none if it needs none."""
    if not workload.has_broker:
        yield {}
        return
    folder = scratch / "broker"
    folder.mkdir()
    try:
        with KafkaBroker(folder, workload.broker_options) as broker:
            yield {BROKERS_VARIABLE: broker.address, BROKER_DATA_VARIABLE: str(broker.data)}
    except HarnessError as error:
        raise JobFailedError(f"failed: {error}") from error


def _execute(command: list[str], variables: dict[str, str], log: Path, timeout_s: int) -> str:
    """Run a job and return what went wrong, if anything did."""
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            cwd=HERE.parent,
            env=variables | {STARTED_VARIABLE: repr(time.time())},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return f"not done after {timeout_s} s"
        finally:
            # The job's JVM shares its process group; it must not live on into the next job's time.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return f"exit status {status}" if status else ""


def _variables(environment: Environment, scratch: Path, jvm_options: str) -> dict[str, str]:
    binaries = environment.python.parent
    return dict(os.environ) | {
        # The embedded interpreter finds its packages through the first python on PATH.
        "PATH": os.pathsep.join([str(binaries), os.environ.get("PATH", os.defpath)]),
        "VIRTUAL_ENV": str(binaries.parent),
        "PYTHONPATH": str(HERE.parent),
        "TMPDIR": str(scratch),
        "FLINK_LOG_DIR": str(scratch),
        "JVM_ARGS": f"-Djava.io.tmpdir={scratch} {jvm_options}".strip(),
        JAR_VARIABLE: str(jar_for(environment)),
        READING_VARIABLE: str(scratch / "reading"),
    }
