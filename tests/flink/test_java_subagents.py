"""Sub-agents in Java, built and used as a reader of docs/java-subagents.md would."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent import Agent
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until
from tests.flink.pricing import Line, PriceService, Pricing, Quote, Tier, build_example

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def jar() -> Path:
    """The jar of the example."""
    return build_example()


@pytest.fixture
def service(board: Board) -> Iterator[PriceService]:
    """The service that the sub-agents ask."""
    made = PriceService(board)
    yield made
    made.close()


def run(cluster: MiniCluster, folder: Folder, agent: Agent, jar: Path | None, **options: str) -> Job:
    """Submit an agent with the jar of its sub-agents."""
    return Job.run(cluster, folder, agent, jars=[] if jar is None else [jar], **options)


def price(subagent: str, item: str, pieces: int, *timeout: float) -> list[Any]:
    """Return an order's step."""
    return ["price", [subagent, {"item": item, "pieces": pieces}, *timeout]]


def quote(item: str, pieces: int, total: str) -> Quote:
    """Return what the sub-agent makes of it."""
    return Quote(
        item=item,
        total=Decimal(total),
        tier=Tier.GOLD if pieces >= 10 else Tier.STANDARD,
        validUntil=date(2030, 12, 31),
        lines=[Line(pieces=pieces, price=Decimal(total))],
        note="while stocks last",
    )


def test_a_java_subagent_answers_before_and_after_a_failure_alike(
    cluster: MiniCluster, board: Board, folder: Folder, service: PriceService, jar: Path
) -> None:
    """Typed results are the same on replay, recorded calls are not made again, the one in flight is under its own key [B1, B2, V3, D3]."""
    board.answer("price of desk", "12.50")
    board.answer("price of lamp", "3")
    board.hold("price of chair")
    board.answer("price of chair", "20", "20")
    folder.feed(
        {
            "key": "a",
            "id": 1,
            "do": [price("pricer", "desk", 3), price("described", "lamp", 10), price("pricer", "chair", 1)],
        }
    )
    job = run(cluster, folder, Pricing(service.address), jar)
    board.wait_asked("price of chair")
    job.checkpoint()

    restarts = job.restarts()
    board.answer("poison", "fail")
    folder.feed({"key": "poison", "id": 0, "do": [["fail_if_told", "poison"]]})
    until(lambda: job.restarts() > restarts, "a restart")
    board.wait_asked("price of chair", 2)
    board.release("price of chair")
    outputs = job.commit(folder, 3)
    job.cancel()

    quotes = [quote("chair", 1, "20"), quote("desk", 3, "37.50"), quote("lamp", 10, "30")]
    assert outputs == [f"a 1 {expected!r}" for expected in quotes]
    assert [board.asked(f"price of {item}") for item in ("desk", "lamp", "chair")] == [1, 1, 2]
    assert len(set(service.keys["price of chair"])) == 1
