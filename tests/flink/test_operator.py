"""What one operator does with inputs: calls, order, back-pressure, watermarks, the end of a bounded input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyflink.common import Types

from flink_agents_subagent import AgentsExecutionEnvironment
from tests.flink.agents import Direct, Scripted
from tests.flink.board import Board
from tests.flink.mini_cluster import Folder, Job, MiniCluster, until

pytestmark = pytest.mark.flink


def _run(cluster: MiniCluster, agent: Any, *orders: dict[str, Any], **options: Any) -> list[str]:
    """Run an agent on a bounded stream and return its outputs."""
    flink = cluster.environment()
    env = AgentsExecutionEnvironment.get_execution_environment(flink)
    for name, value in {"action_state_store": "memory", **options}.items():
        env.set_option(name.replace("_", "-"), value)
    stream = flink.from_collection([json.dumps(order) for order in orders], Types.STRING())
    outputs = env.from_datastream(stream, key_selector=_key).apply(agent).to_datastream(Types.STRING())
    with outputs.execute_and_collect() as elements:
        return list(elements)


def _key(order: str) -> str:
    return str(json.loads(order)["key"])


def test_a_def_action_emits_and_calls(cluster: MiniCluster, board: Board) -> None:
    """A `def` action runs in one go; its durable call blocks and returns [E1.2, E2.6, E3.16, P1, P7]."""
    outputs = _run(cluster, Direct(), {"key": "a", "id": 1, "do": [["emit", "x"], ["block", "direct"], ["emit", "y"]]})

    assert outputs == ["a 1 x", "a 1 direct=ok", "a 1 y"]
    assert board.asked("direct") == 1


def test_inputs_of_a_key_wait_and_other_keys_do_not(cluster: MiniCluster, board: Board, folder: Folder) -> None:
    """While a call of one key waits, another key goes on, and the next input of the same key does not start [E1.1, E1.5, E7.1]."""
    board.hold("slow")
    folder.feed(
        {"key": "a", "id": 1, "do": [["count", None], ["call", "slow"]]},
        {"key": "a", "id": 2, "do": [["count", None], ["call", "next"]]},
        {"key": "b", "id": 3, "do": [["together", ["b first", "b second"]]]},
    )
    job = Job.run(cluster, folder, Scripted())
    board.wait_asked("slow")
    until(lambda: _metric(job, "agent.held_inputs") == 2, "the metric of held inputs")

    assert job.commit(folder, 2) == ["a 1 count 1", "b 3 ok,ok"]
    assert board.asked("next") == 0
    board.release("slow")
    assert job.commit(folder, 5)[1:4] == ["a 1 slow=ok", "a 2 count 2", "a 2 next=ok"]
    job.cancel()


def test_a_bounded_input_ends_when_its_last_run_has_ended(cluster: MiniCluster, board: Board, folder: Folder) -> None:
    """The last watermark is held back and the job stays alive while a run waits; then both go on [E1.6]."""
    board.hold("last")
    flink = cluster.environment()
    orders = [
        {"key": "a", "id": 1, "do": [["call", "last"], ["sleep", 0.2]]},
        {"key": "b", "id": 2, "do": [["emit", "x"]]},
    ]
    stream = flink.from_collection([json.dumps(order) for order in orders], Types.STRING())
    job = Job.attach(cluster, folder, Scripted(), flink, stream)
    board.wait_asked("last")
    until(lambda: _metric(job, "currentInputWatermark") == _END, "the end of the input")

    assert _metric(job, "currentOutputWatermark") < _END
    assert not job.is_over()
    board.release("last")

    assert job.wait() is None
    assert folder.outputs() == ["a 1 last=ok", "a 1 slept", "b 2 x"]


_END = float((1 << 63) - 1)


def _metric(job: Job, name: str) -> float:
    vertices = job.rest("/jobs/{job}")["vertices"]
    vertex = next(vertex["id"] for vertex in vertices if vertex["name"].startswith("agent-scripted"))
    return job.metric(f"/jobs/{{job}}/vertices/{vertex}/metrics?get=0.agent-scripted.{name}")


def test_inputs_beyond_the_bound_wait_outside(cluster: MiniCluster, board: Board) -> None:
    """With two inputs held at most, all inputs come through while calls wait and time out [E1.5, E3.10, E2.3]."""
    board.hold("never")
    orders = [{"key": str(n), "id": n, "do": [["call_for", ["never", 0.05]], ["sleep", 0.01]]} for n in range(7)]

    outputs = _run(cluster, Scripted(), *orders, max_held_inputs=2, call_threads=2, max_abandoned_calls=100)
    board.release("never")

    assert sorted(outputs) == sorted(f"{n} {n} {text}" for n in range(7) for text in ("timeout", "slept"))


def test_many_calls_overlap(cluster: MiniCluster, board: Board, folder: Folder) -> None:
    """Two hundred coroutine calls and forty blocking ones wait at the same time [E3.10, P1]."""
    board.hold("all")
    board.hold("threads")
    folder.feed(
        *({"key": f"c{n}", "id": n, "do": [["call", "all"]]} for n in range(200)),
        *({"key": f"t{n}", "id": n, "do": [["block", "threads"]]} for n in range(40)),
    )
    job = Job.run(cluster, folder, Scripted())
    board.wait_asked("all", 200)
    board.wait_asked("threads", 40)
    board.release("all")
    board.release("threads")

    assert len(job.commit(folder, 240)) == 240
    job.cancel()
