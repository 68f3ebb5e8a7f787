"""A ReAct agent inside another on a real cluster, whose TaskManager dies in the third round of its loop."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path

import pytest

from e2e.harness.cluster import ClusterSettings, FlinkCluster
from e2e.harness.effect_server import answer
from e2e.harness.effects import EffectServer, Fault
from e2e.harness.processes import wait_until
from e2e.harness.sinks import committed_lines

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

_ROOT = Path(__file__).resolve().parents[2]
_JOB = Path(__file__).with_name("jobs") / "react_child.py"
_ROUNDS = (1, 2, 3)
_HELD = {"in-model": "/in-model/model/3", "in-tool": "/in-tool/look/3"}
"""By input: the request that is made and not answered when the process dies."""


def test_a_child_killed_in_round_three_of_its_loop_goes_on_from_there(tmp_path: Path) -> None:
    """A TaskManager that is killed with −9 while the third round's model, or its tool, is called repeats that call alone.

    The next one goes on with the conversation and the memory that the checkpoint has, and comes to the answer that an undisturbed run
    would have given. [N1, N2, N3, A5, E4.2]
    """
    settings = ClusterSettings(slots=2, options={"parallelism.default": "2"}, python_path=[_ROOT])
    output, store = tmp_path / "output", tmp_path / "store"
    with (
        EffectServer(_folder(tmp_path, "effects")) as effects,
        FlinkCluster(_folder(tmp_path, "cluster"), settings) as cluster,
    ):
        effects.set_faults([Fault("hold", path) for path in _HELD.values()])
        job = cluster.submit(_JOB, str(output), str(store), effects.url, json.dumps(list(_HELD)))
        wait_until(functools.partial(_are_held, effects), "both third rounds are under way", 90)
        # The one that is under way may have begun before; the next one has not.
        cluster.wait_for_checkpoints(job, cluster.rest.checkpoints(job).completed + 2, within_s=60)
        (taskmanager,) = cluster.taskmanagers
        cluster.kill_taskmanager(taskmanager)
        before = _made(effects)
        effects.set_faults([])
        cluster.start_taskmanager()
        wait_until(lambda: len(committed_lines(output)) == len(_HELD), "both answers are committed", 120)
        restored = cluster.rest.checkpoints(job).restored
        made = _made(effects)

    assert restored == 1
    assert before == _once("in-model", ["model/1", "look/1", "model/2", "look/2", "model/3"]) + _once(
        "in-tool", ["model/1", "look/1", "model/2", "look/2", "model/3", "look/3"]
    )
    every = [*(f"{kind}/{number}" for number in _ROUNDS for kind in ("model", "look")), "model/4", "memory"]
    again = _once("in-model", ["model/3"]) + _once("in-tool", ["look/3"])
    assert made == _once("in-model", every) + _once("in-tool", every) + again
    outputs = sorted(json.loads(line) for line in committed_lines(output))
    assert outputs == [[name, f"I know: {_said(name, 4)}", "nothing"] for name in sorted(_HELD)]


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def _are_held(effects: EffectServer) -> bool:
    return {request.path for request in effects.requests()} >= set(_HELD.values())


def _made(effects: EffectServer) -> Counter[tuple[str, str]]:
    """Return how often each call was made, with what the child knew then."""
    return Counter((request.path, request.key) for request in effects.requests())


def _once(name: str, calls: list[str]) -> Counter[tuple[str, str]]:
    """Return what an undisturbed run makes of these calls."""
    return Counter((f"/{name}/{call}", _known(name, call)) for call in calls)


def _known(name: str, call: str) -> str:
    kind, _, number = call.partition("/")
    match kind:
        case "model":
            return _said(name, int(number))
        case "look":
            return f"{name} {number}"
        case _:
            return " ".join(_found(name, number) for number in _ROUNDS)


def _said(name: str, turn: int) -> str:
    """Return the conversation as it is when the model's turn comes."""
    rounds = [f"assistant call {number}, tool {_found(name, number)}" for number in range(1, turn)]
    return ", ".join([f"user {name}", *rounds])


def _found(name: str, number: int) -> str:
    return str(answer(f"/{name}/look/{number}".encode())["confirmation"])
