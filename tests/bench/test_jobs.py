"""The jobs of the benchmarks."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from bench import ours

_JOBS = sorted(module.name for module in pkgutil.iter_modules(ours.__path__))


@pytest.mark.parametrize("job", _JOBS)
def test_every_job_of_ours_finds_what_it_is_made_of(job: str) -> None:
    """A job that cannot be imported is found here, not in the middle of a measurement [PF1, PF10]."""
    assert importlib.import_module(f"bench.ours.{job}") is not None
