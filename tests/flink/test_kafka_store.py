"""A job on a real cluster whose calls are recorded in a topic of a real broker."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from e2e.harness.broker import KafkaBroker
from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.effects import EffectServer
from e2e.harness.processes import wait_until
from e2e.harness.sinks import committed_lines

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

_ROOT = Path(__file__).resolve().parents[2]
_JOB = Path(__file__).with_name("jobs") / "recorded_in_kafka.py"
_INPUTS = 500


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def _names(effects: EffectServer, path: str) -> Counter[str]:
    return Counter(request.key.rpartition(" ")[0] for request in effects.requests() if request.path == f"/{path}")


def test_calls_recorded_in_kafka_survive_deaths_of_job_and_broker(tmp_path: Path) -> None:
    """A call that another one was made after is never made again, whoever is killed with −9 [S1.1, S2.2, S2.6, E4.3].

    The second call of an input begins when the first is recorded; so when the effect server has seen the second one,
    the first must not come again, whatever the timing is.
    """
    settings = ClusterSettings(slots=2, options={"parallelism.default": "2"}, python_path=[_ROOT])
    output = tmp_path / "output"
    with (
        EffectServer(_folder(tmp_path, "effects"), (20, 150)) as effects,
        KafkaBroker(_folder(tmp_path, "broker")) as broker,
        FlinkCluster(_folder(tmp_path, "cluster"), settings) as cluster,
    ):
        job = cluster.submit(_JOB, str(output), effects.url, broker.address, str(_INPUTS))
        wait_until(lambda: effects.request_count() >= 0.3 * 2 * _INPUTS, "calls are made", 120)
        (taskmanager,) = cluster.taskmanagers
        cluster.kill_taskmanager(taskmanager)
        first_at_kill, recorded = _names(effects, "first"), set(_names(effects, "second"))
        cluster.start_taskmanager()
        cluster.wait_until_running(job, within_s=90)
        wait_until(lambda: effects.request_count() >= 0.7 * 2 * _INPUTS, "calls are made", 120)
        broker.kill()
        broker.start()
        cluster.wait_for_status(job, "FINISHED", within_s=150)
        first, second = _names(effects, "first"), _names(effects, "second")

    assert sorted(json.loads(line)[0] for line in committed_lines(output)) == sorted(
        f"input {number}" for number in range(_INPUTS)
    )
    assert len(first) == len(second) == _INPUTS
    assert recorded
    assert {name: first[name] for name in recorded if first[name] != first_at_kill[name]} == {}
    # The death of the job may repeat what was under way, that of the broker nothing.
    assert {name for name in first | second if first[name] + second[name] > 2} <= set(first_at_kill)
