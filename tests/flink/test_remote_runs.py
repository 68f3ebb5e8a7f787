"""Sub-agents behind HTTP on a real cluster, whose TaskManager dies in every phase of a call."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.jobs import JobServerProcess
from e2e.harness.processes import wait_until
from e2e.harness.sinks import committed_lines
from flink_agents_subagent.testing import Fault

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

_ROOT = Path(__file__).resolve().parents[2]
_JOB = Path(__file__).with_name("jobs") / "remote_runs.py"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    """A cluster with one TaskManager."""
    settings = ClusterSettings(slots=2, options={"parallelism.default": "2"}, python_path=[_ROOT])
    with FlinkCluster(tmp_path_factory.mktemp("cluster"), settings) as running:
        yield running


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def _submit(
    cluster: FlinkCluster, folder: Path, services: dict[str, JobServerProcess], inputs: int, per_second: int
) -> str:
    urls = json.dumps({name: service.url for name, service in services.items()})
    output, store = folder / "output", folder / "store"
    return cluster.submit(_JOB, str(output), str(store), urls, str(inputs), str(per_second))


def _kill_and_restart(cluster: FlinkCluster) -> None:
    (taskmanager,) = cluster.taskmanagers
    cluster.kill_taskmanager(taskmanager)
    cluster.start_taskmanager()


def _asked(service: JobServerProcess, request: str) -> Counter[str]:
    """Return how often a request was made, by key, which is `*` in the path."""
    return Counter(
        seen.key for seen in service.requests() if f"{seen.method} {seen.path.replace(seen.key, '*')}" == request
    )


def _once(keys: Iterable[str]) -> Counter[str]:
    return Counter(dict.fromkeys(keys, 1))


@dataclass(frozen=True)
class Phase:
    """Where a call of a service stands when the process dies: at the last of these requests, which is made and not answered, or goes on."""

    reached: str
    """The request by which it is known to have come there."""
    faults: Sequence[Fault]
    requests: Mapping[str, int]
    """How often each call makes a request, in both lives together."""
    is_cancelled: bool = False
    """Whether the run is, once."""


_INPUTS = 10
_PHASES = {
    "between POST and record": Phase("POST /runs", [Fault("hold", "submit", _INPUTS)], {"POST /runs": 1}),
    "after a lost response": Phase(
        "GET /runs/*", [Fault("reset", "submit", _INPUTS), Fault("hold", "status", _INPUTS)], {"POST /runs": 1}
    ),
    "while polling": Phase("GET /runs/*", [Fault("hold", "run", _INPUTS)], {"POST /runs": 1}),
    "between status and fetch": Phase(
        "GET /runs/*/result", [Fault("hold", "result", _INPUTS)], {"POST /runs": 1, "GET /runs/*/result": 2}
    ),
    # A deferred call has no status to ask for: it is made again, with the same key.
    "calls": Phase("POST /calls", [Fault("hold", "call", _INPUTS)], {"POST /calls": 2}),
    # That the service was told to stop is not recorded before it has answered.
    "impatience": Phase(
        "POST /runs/*/cancel",
        [Fault("hold", "run", _INPUTS), Fault("hold", "cancel", _INPUTS)],
        {"POST /runs": 1, "POST /runs/*/cancel": 2},
        is_cancelled=True,
    ),
}


def test_a_run_is_found_again_wherever_the_process_dies(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A TaskManager that is killed with −9 in any phase of a call leaves a run that the next one attaches to.

    It is neither started twice nor cancelled, unless its time had run out before; what the deferred kind repeats has the same
    key. [D3, E3.6, I7, M4, M6, M7]
    """
    with ExitStack() as stack:
        services = {
            name: stack.enter_context(JobServerProcess(_folder(tmp_path, name.replace(" ", "-")))) for name in _PHASES
        }
        for name, phase in _PHASES.items():
            services[name].set_faults(phase.faults)
        job = _submit(cluster, tmp_path, services, _INPUTS, per_second=100)
        for name, phase in _PHASES.items():
            reached = functools.partial(_has_come_to, services[name], phase)
            wait_until(reached, f"{_INPUTS} calls are {name}", 90)
        _kill_and_restart(cluster)
        for service in services.values():
            service.set_faults([])
        cluster.wait_for_status(job, "FINISHED", within_s=120)
        logs = {name: service.read_log() for name, service in services.items()}
        made = {
            (name, request): _asked(services[name], request)
            for name, phase in _PHASES.items()
            for request in phase.requests
        }

    for name, phase in _PHASES.items():
        started = logs[name].started
        assert len(started) == _INPUTS, name
        assert started == _once(started), name
        assert logs[name].cancelled == (started if phase.is_cancelled else {}), name
        for request, times in phase.requests.items():
            assert made[name, request] == Counter(dict.fromkeys(started, times)), (name, request)
    expected = [[*[f"input {number}"] * len(_PHASES), "timeout"] for number in range(_INPUTS)]
    assert _outputs(tmp_path) == Counter(str(each) for each in expected)


def _has_come_to(service: JobServerProcess, phase: Phase) -> bool:
    return len(_asked(service, phase.reached)) == _INPUTS


def _outputs(folder: Path) -> Counter[str]:
    return Counter(str(json.loads(line)) for line in committed_lines(folder / "output"))


_CALLS = 1000
_ANY_FAULT = [
    *(
        Fault(kind, on, times=_CALLS, share=0.03, delay_ms=200)
        for on in ("submit", "status", "result")
        for kind in ("status", "drop", "reset", "malformed", "delay")
    ),
    Fault("delay", "run", times=_CALLS, share=0.1, delay_ms=500),
]


def _has_started(service: JobServerProcess, runs: int) -> bool:
    return service.start_count() >= runs


def test_runs_started_are_calls_made_whatever_fails(cluster: FlinkCluster, tmp_path: Path) -> None:
    """A thousand calls of a service that fails at random, of a job that is killed with −9 twice: one run for each call id.

    [D3, I7, M4]
    """
    with JobServerProcess(tmp_path, "--duration-ms", "100", "1500") as service:
        service.set_faults(_ANY_FAULT)
        job = _submit(cluster, tmp_path, {"jobs": service}, _CALLS, per_second=100)
        for runs in (300, 700):
            has_started = functools.partial(_has_started, service, runs)
            wait_until(has_started, f"{runs} runs are started", 120)
            _kill_and_restart(cluster)
            cluster.wait_until_running(job, within_s=90)
        cluster.wait_for_status(job, "FINISHED", within_s=180)
        log = service.read_log()
        submits = _asked(service, "POST /runs")

    assert len(log.started) == _CALLS
    assert log.started == _once(log.started)
    assert log.cancelled == {}
    assert _outputs(tmp_path) == Counter(str([f"input {number}"] * 2) for number in range(_CALLS))
    # The faults were there: answers of which the caller learnt nothing, and submits that had to be repeated.
    assert sum(request.status in (None, 503) for request in log.requests) > _CALLS / 10
    assert submits.total() > _CALLS
