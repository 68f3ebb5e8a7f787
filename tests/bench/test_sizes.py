"""How much of a workload is run."""

from __future__ import annotations

import pytest

from bench.__main__ import main
from bench.catalogue import MEASURES, WORKLOADS, Workload
from bench.contestants import OURS

_WORKLOAD = Workload("soak", {"": {"minutes": 3, "keys": 8}, "peer": {"minutes": 1}}, scaled=("keys",))


def test_a_given_size_replaces_that_of_the_catalogue() -> None:
    """A size goes to the jobs that have it, and a quick run scales what the workload says [PF9]."""
    assert _WORKLOAD.sizes_of("ours", {"minutes": 30, "other": 1}, quick=False) == {"minutes": 30, "keys": 8}
    assert _WORKLOAD.sizes_of("ours", {"minutes": 30}, quick=True) == {"minutes": 30, "keys": 2}
    assert _WORKLOAD.sizes_of("peer", {}, quick=False) == {"minutes": 1}


def test_the_quality_bar_gets_its_sizes() -> None:
    """200 restarts, 10,000 calls in the tail, a million for the topic are what is run by default [PF7, PF9, S2.5]."""
    sizes = {workload.name: workload.sizes_of("ours", {}, quick=False) for workload in WORKLOADS}

    assert sizes["pf9_restarts"]["restarts"] == sizes["pf9_restarts_kafka"]["restarts"] == 200
    assert sizes["pf7"]["runs"] * sizes["pf7"]["calls"] == 10_000
    assert sizes["topic_size"]["calls"] == 1_000_000


def test_every_measure_has_a_job_of_ours() -> None:
    """A measure names a workload, and our folder has a job of its name."""
    workloads = {workload.name for workload in WORKLOADS}

    assert {measure.workload for measure in MEASURES} == workloads
    assert [name for name in workloads if OURS.job(name) is None] == []


@pytest.mark.parametrize("text", ["minutes", "minutes=", "minutes=-3", "hours=3"])
def test_a_size_that_no_job_has_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names what was given and the sizes that there are."""
    with pytest.raises(SystemExit):
        main(["--size", text])

    message = capsys.readouterr().err
    assert repr(text) in message
    assert "minutes" in message
