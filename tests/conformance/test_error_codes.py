"""The error codes that both languages share."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from flink_agents_subagent import errors
from tests.conformance.vectors import vectors


@pytest.mark.parametrize(("given", "expected"), vectors("error-codes"))
def test_an_error_class_has_its_pinned_code(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """A class keeps the code and the retry flag that the Java half knows [P6]."""
    error = getattr(errors, given["class"])

    assert {"code": error.code, "retryable": error.retryable} == expected


def test_every_error_class_is_pinned() -> None:
    """No class of the error tree is unknown to the vectors, and so to the Java half [P6]."""
    classes = {
        name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, errors.AgentError)
    }

    assert classes == {case.values[0]["class"] for case in vectors("error-codes")}
