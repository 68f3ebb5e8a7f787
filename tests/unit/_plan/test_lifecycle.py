"""Opening and closing of resources."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from flink_agents_subagent import DefinitionError, Resource, ResourceType
from flink_agents_subagent._plan import ResourceLifecycle


class Traced(Resource):
    """Writes down what happens to it."""

    def __init__(self, trace: list[str], label: str, *, fails: str = "", error: BaseException | None = None) -> None:
        self._trace = trace
        self._label = label
        self._fails = fails
        self._error = error or OSError("no disk")

    def _did(self, what: str) -> None:
        self._trace.append(f"{what} {self._label}")
        if what == self._fails:
            raise self._error

    def open(self) -> None:
        """Open."""
        self._did("open")

    def close(self) -> None:
        """Close."""
        self._did("close")


class Later(Traced):
    """The same in coroutines."""

    async def open(self) -> None:  # type: ignore[override]  # both kinds are allowed
        """Open."""
        self._did("open")

    async def close(self) -> None:  # type: ignore[override]  # both kinds are allowed
        """Close."""
        self._did("close")


def lifecycle(trace: list[str], *resources: Any) -> ResourceLifecycle:
    """Return the lifecycle of resources named by their place."""

    def run_async(coroutine: Coroutine[Any, Any, None]) -> None:
        trace.append("loop:")
        asyncio.run(coroutine)

    return ResourceLifecycle({(str(i), ResourceType.OBJECT): each for i, each in enumerate(resources)}, run_async)


def test_resources_open_in_order_and_close_in_reverse() -> None:
    """Coroutines run on the loop that the host brings, other objects are left alone [R3]."""
    trace: list[str] = []
    life = lifecycle(trace, Traced(trace, "a"), 3, Later(trace, "b"))

    life.open()
    life.close()
    life.close()

    assert trace == ["open a", "loop:", "open b", "loop:", "close b", "close a"]


@pytest.mark.parametrize("kind", [Traced, Later])
def test_a_failed_open_closes_what_was_touched(kind: type[Traced]) -> None:
    """The failing resource is closed too, later ones are not opened, and the error names it [R3]."""
    trace: list[str] = []
    life = lifecycle(trace, Traced(trace, "a"), kind(trace, "b", fails="open"), Traced(trace, "c"))

    with pytest.raises(DefinitionError, match=r"resource '1' \(object\) cannot be opened: OSError: no disk") as caught:
        life.open()

    assert [step for step in trace if step != "loop:"] == ["open a", "open b", "close b", "close a"]
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.logs_warning
@pytest.mark.parametrize("error", [OSError("no disk"), SystemExit(1)])
def test_a_failed_close_is_logged_and_the_others_close(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    """Closing never raises, because a shutdown that throws ends the process [R3, P5]."""
    trace: list[str] = []
    life = lifecycle(trace, Traced(trace, "a"), Traced(trace, "b", fails="close", error=error))
    life.open()

    life.close()

    assert trace[-2:] == ["close b", "close a"]
    assert [record.getMessage() for record in caplog.records] == ["resource '1' (object) cannot be closed"]
