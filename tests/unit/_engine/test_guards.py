"""How many sub-agent calls a run may make, and how deep (G1–G3)."""

from __future__ import annotations

from flink_agents_subagent._engine.guards import NOTHING_ADMITTED, Guards


def test_depth_is_counted_along_the_chain_which_the_refusal_names() -> None:
    """A call within seven others has depth eight; the ninth is refused, with the names from the outside in [G1]."""
    guards = Guards(max_calls=100, max_depth=8)
    chain = [f"agent {number}" for number in range(8)]

    assert guards.admit("last", None, chain[:7]) is None
    assert guards.admit("too deep", None, chain) == (
        "sub-agents are nested deeper than subagent.max-depth = 8: "
        "agent 0 > agent 1 > agent 2 > agent 3 > agent 4 > agent 5 > agent 6 > agent 7 > too deep"
    )


def test_calls_are_counted_per_run_and_per_sub_agent() -> None:
    """A refused one is not counted, so that others may still be called [G2]."""
    guards = Guards(max_calls=3, max_depth=8)

    assert guards.admit("a", 1) is None
    assert guards.admit("a", 1) == "the run has made max_calls_per_run = 1 calls of sub-agent 'a'"
    assert guards.admit("b", None) is None
    assert guards.admit("c", None) is None
    assert guards.admit("c", None) == (
        "the run has made subagent.max-calls-per-run = 3 calls of sub-agents; 'c' is not called"
    )


def test_what_a_visit_was_allowed_counts_again_on_replay() -> None:
    """The log of a finished execution holds it, by sub-agent [G3, E4.5]."""
    guards = Guards(max_calls=2, max_depth=8)
    guards.admit("a", None)
    visit = guards.take_visit()
    guards.admit("b", None)

    assert dict(visit) == {"a": 1} and dict(guards.take_visit()) == {"b": 1}
    assert guards.take_visit() is NOTHING_ADMITTED
    again = Guards(max_calls=2, max_depth=8)
    again.replay_visit(visit)
    assert again.admit("a", 1) is not None and again.admit("b", None) is None and again.admit("b", None) is not None
