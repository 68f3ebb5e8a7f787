"""What a durable call is described with."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from flink_agents_subagent import DefinitionError, RetryPolicy


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("max_attempts", 0, "a whole number of at least 1"),
        ("max_attempts", 1.5, "a whole number of at least 1"),
        ("max_attempts", True, "a whole number of at least 1"),
        ("factor", 0.9, "a number of at least 1"),
        ("factor", float("nan"), "a number of at least 1"),
        ("factor", "2", "a number of at least 1"),
        ("initial", 3, "a timedelta that is not negative"),
        ("initial", timedelta(seconds=-1), "a timedelta that is not negative"),
        ("max_interval", None, "a timedelta that is not negative"),
        ("retry_on", OSError, "a tuple of exception classes"),
        ("retry_on", (OSError, int), "a tuple of exception classes"),
        ("retry_on", (OSError(),), "a tuple of exception classes"),
    ],
)
def test_a_retry_policy_that_cannot_work_is_refused(field: str, value: Any, wanted: str) -> None:
    """When it is made, not at the first call that fails [E3.9]."""
    with pytest.raises(DefinitionError, match=f"^{field} of a RetryPolicy is .*; give {wanted}$"):
        RetryPolicy(**{field: value})


def test_a_retry_policy_may_lie_at_its_bounds() -> None:
    """One attempt, no pause, no growth, no exception [E3.9]."""
    policy = RetryPolicy(1, timedelta(0), 1, timedelta(0), ())

    assert (policy.max_attempts, policy.factor) == (1, 1)
