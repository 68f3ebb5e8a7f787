"""Sub-agents in Java, built and used as a reader of docs/java-subagents.md would."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent import Agent, InputEvent, JavaSubagent, ResourceType
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until
from tests.flink.pricing import Line, PriceService, Pricing, Quote, Tier, act, build_example

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


def test_java_calls_of_one_action_and_of_others_overlap(
    cluster: MiniCluster, board: Board, folder: Folder, service: PriceService, jar: Path
) -> None:
    """They run on threads of their own, several at a time, while Python goes on; no thread is left behind [B3, I3, P3]."""
    items = ["pen", "ink", "nib"]
    for item in items:
        board.answer(f"price of {item}", "1")
        board.hold(f"price of {item}")
    folder.feed({"key": "a", "id": 1, "do": [["together", [price("pricer", item, 1)[1] for item in items]]]})
    job = run(cluster, folder, Pricing(service.address), jar)
    for item in items:
        board.wait_asked(f"price of {item}")
    assert cluster.threads("agent-java-call") == len(items)
    folder.feed({"key": "b", "id": 2, "do": [["emit", "meanwhile"]]})

    assert job.commit(folder, 1) == ["b 2 meanwhile"]
    for item in items:
        board.release(f"price of {item}")
    outputs = job.commit(folder, 4)
    job.cancel()

    assert outputs == sorted(["b 2 meanwhile", *(f"a 1 {quote(item, 1, '1')!r}" for item in items)])
    until(lambda: cluster.threads("agent-java-call") == 0, "the end of the threads")


def test_failures_in_java_are_data(
    cluster: MiniCluster, board: Board, folder: Folder, service: PriceService, jar: Path
) -> None:
    """An exception, a refusal and a timeout are failed results [B5, M6, V1]."""
    board.answer("price of coal", "broken")
    board.answer("price of gold", "2000")
    board.hold("price of time")
    folder.feed(
        {
            "key": "a",
            "id": 1,
            "do": [price("pricer", "coal", 1), price("pricer", "gold", 1), price("pricer", "time", 1, 0.5)],
        }
    )
    job = run(cluster, folder, Pricing(service.address), jar)

    outputs = job.commit(folder, 3)
    job.cancel()
    board.release("price of time")

    assert outputs == [
        "a 1 error: java.io.IOException: the service says 500: broken",
        "a 1 limit: 2000 is more than may be offered",
        "a 1 timeout: sub-agent 'pricer' did not answer within 500 ms",
    ]


def test_a_run_of_a_java_service_is_attached_to_after_a_failure(
    cluster: MiniCluster, board: Board, folder: Folder, service: PriceService, jar: Path
) -> None:
    """An asynchronous sub-agent submits once, is polled on, and answers alike after a failure [B1, B2, I7, V3]."""
    board.answer("check ada", "check 17")
    board.answer("status of check 17", *["RUNNING"] * 10_000)
    board.answer("limit of check 17", "500")
    folder.feed({"key": "a", "id": 1, "do": [["check", "ada"]]})
    job = run(cluster, folder, Pricing(service.address), jar)
    board.wait_asked("status of check 17", 2)
    job.checkpoint()

    restarts = job.restarts()
    board.answer("credit poison", "fail")
    folder.feed({"key": "poison", "id": 0, "do": [["fail_if_told", "credit poison"]]})
    until(lambda: job.restarts() > restarts, "a restart")
    probes = board.asked("status of check 17")
    board.wait_asked("status of check 17", probes + 2)
    board.answer("status of check 17", *["COMPLETED"] * 10)
    outputs = job.commit(folder, 1)
    job.cancel()

    assert outputs == ["a 1 {'limit': 500}"]
    assert (board.asked("check ada"), board.asked("stop check 17")) == (1, 0)
    assert {*service.keys["check ada"]} == {*service.keys["status of check 17"]} == {*service.keys["limit of check 17"]}


@pytest.mark.parametrize(
    ("class_name", "has_jar", "remedy"),
    [
        ("com.acme.Pricer", False, "the class com.acme.Pricer is in no jar of the job. Add the jar that holds it"),
        (
            "com.acme.Quote",
            True,
            "the class com.acme.Quote is no sub-agent; implement DeferredSubagent or AsyncSubagent",
        ),
        ("com.acme.Pricer", True, "open() of com.acme.Pricer failed: java.lang.IllegalArgumentException: args need"),
    ],
    ids=["no jar", "no sub-agent", "failing open"],
)
def test_a_class_that_cannot_be_opened_fails_the_job_with_the_remedy(
    cluster: MiniCluster, folder: Folder, jar: Path, class_name: str, has_jar: bool, remedy: str
) -> None:
    """Before any input is taken; resource, class and remedy stand in the job's failure [B5, R3]."""
    agent = Agent("closed").add_action("act", InputEvent, act)
    agent.add_resource("pricer", ResourceType.AGENT, JavaSubagent(class_name))
    folder.feed({"key": "a", "id": 1, "do": []})

    job = run(cluster, folder, agent, jar if has_jar else None, restart__strategy_type="none")
    failure = job.wait()

    assert failure is not None
    assert f"resource 'pricer' (agent) cannot be opened: DefinitionError: sub-agent 'pricer': {remedy}" in failure
