"""Programs that the simulator has found faults with, once; each is the smallest one of its kind."""

from __future__ import annotations

import pytest

from flink_agents_subagent.testing.job import make_job, source_of
from flink_agents_subagent.testing.simulator import Trial
from tests.simulation import programs as p
from tests.simulation.interpreter import agent_of

_OPTIONS = {"on-action-error": "dead-letter", "replay.unclaimed-retention": "36500 d"}

_FOUND = {
    # After a restore the sleep began at the run's first time again, because the finished action's records came later.
    "a-def-action-moves-the-time": p.Program(
        on_input=(p.Action((p.DefCall(0), p.DefCall(0, has_reconciler=True), p.Send(), p.Output()), is_async=False),),
        on_event=(p.Action((p.Call(0), p.Output())), p.Action((p.Sleep(1), p.Output()))),
        inputs=(("k", 0),),
    ),
    "a-def-action-moves-the-time-of-a-time-out": p.Program(
        on_input=(
            p.Action((p.DefCall(0), p.DefCall(0), p.Output()), is_async=False),
            p.Action((p.DefCall(0, has_reconciler=True), p.Send(), p.Output()), is_async=False),
        ),
        on_event=(
            p.Action((p.DefCall(0), p.DefCall(0, has_reconciler=True), p.Output()), is_async=False),
            p.Action((p.WaitFor(5, (p.Try((p.Sleep(1), p.Sleep(1))),)), p.Output())),
        ),
        inputs=(("k", 0),),
    ),
    # The caller's run was over but for that, and looked for something to wait for without end.
    "a-call-of-a-child-is-taken-back-after-its-end": p.Program(
        on_input=(p.Action((p.Child(1), p.Output())),),
        on_event=(),
        inputs=(("k", 0),),
        in_child=(p.Action((p.Job(1, timeout_ms=20, probes=9), p.Output())),),
    ),
}


@pytest.mark.parametrize("program", [pytest.param(program, id=name) for name, program in _FOUND.items()])
def test_a_program_that_was_found_passes(program: p.Program) -> None:
    """What the simulator has found once stays repaired [E2.3, E4.5, E8.3]."""
    trial = Trial(make_job(agent_of(program), _OPTIONS), source_of(program.inputs), "keys")

    for seed in range(40):
        trial.run(f"seed {seed}")

    assert trial.report().crashes > 40
