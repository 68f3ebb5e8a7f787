"""Settings of the whole suite: how long generated tests run, and which log records are an error."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# A generated program is simulated at every crash point, so that a single example may take long.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("quick", max_examples=50, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=2000, **_COMMON)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def _no_unexpected_warning(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test during which the package logs a warning, unless it is marked `logs_warning`."""
    yield
    if request.node.get_closest_marker("logs_warning"):
        return
    records = [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.levelno >= logging.WARNING and record.name.split(".")[0] == "flink_agents_subagent"
    ]
    assert not records, f"logged without the mark logs_warning: {records}"
