"""Generated agents are killed wherever they can die (E8.3)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from flink_agents_subagent.testing.job import make_job, source_of
from flink_agents_subagent.testing.simulator import Trial
from tests.simulation import programs as p
from tests.simulation.interpreter import agent_of
from tests.simulation.service import Service
from tests.simulation.strategies import programs

_OPTIONS = {"on-action-error": "dead-letter", "replay.unclaimed-retention": "36500 d"}
_IS_QUICK = settings().max_examples < 1000
# `make test` tries a few hundred programs at some of their points, `make simulate` thousands at all of them.
_PROGRAMS = 120 if _IS_QUICK else settings().max_examples
_POINTS, _SEEDS, _SECONDS = (10, 6, 600) if _IS_QUICK else (10_000, 20, 0)


def _simulate(program: p.Program) -> list[str]:
    remote = Service()
    trial = Trial(make_job(agent_of(program, remote), _OPTIONS), source_of(program.inputs), "keys")
    points = trial.reference.points
    for point in range(1, points + 1, max(1, points // _POINTS)):
        trial.run(f"point {point}")
    for seed in range(_SEEDS):
        trial.run(f"seed {seed}")
    remote.reset()
    assert remote.broken == []
    return trial.report().differences


@pytest.mark.logs_warning
@pytest.mark.timeout(_SECONDS)
@settings(max_examples=_PROGRAMS)
@given(programs())
def test_any_program_survives_crashes(program: p.Program) -> None:
    """Whatever an agent does, a crash changes nothing that its journal has fixed, and breaks no contract about calls.

    Runs of a service are started once per call, and none is left alone that nobody waits for.

    [E1.9, E2.1, E2.2, E2.3, E3.5, E3.6, E3.9, E3.11, E3.14, E3.15, E4.2, E4.4, E4.5, E5.3, E6.2, E8.3, M, M7, M8, I7].
    """
    _simulate(program)


@pytest.mark.logs_warning
@pytest.mark.timeout(_SECONDS)
@settings(max_examples=_PROGRAMS)
@given(programs(is_pure=True))
def test_a_program_without_timing_ends_the_same(program: p.Program) -> None:
    """An agent that depends on nothing but its inputs ends as if there had been no crash [E8.2, E8.3]."""
    assert _simulate(program) == []
