"""Generates programs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.simulation import programs as p

__all__ = ["programs"]

_times = st.sampled_from([0, 1, 5, 10, 30, 100])
_tags = st.integers(0, 3)
_paths = st.sampled_from(["a", "b", "c.d", "c.e"])


def _calls(*, is_pure: bool) -> st.SearchStrategy[p.Call]:
    return st.builds(
        p.Call,
        tag=_tags,
        is_blocking=st.booleans(),
        takes_ms=_times,
        fails=st.sampled_from([0, 0, 0, 1, 2, 9]),
        has_reconciler=st.booleans(),
        timeout_ms=st.just(None) if is_pure else st.sampled_from([None, None, 5, 20, 1000]),
        attempts=st.sampled_from([1, 1, 2, 3]),
        is_caught=st.sampled_from([True, True, True, False]),
    )


def _jobs(*, is_pure: bool) -> st.SearchStrategy[p.Job]:
    return st.builds(
        p.Job,
        prompts=st.integers(1, 3),
        probes=st.integers(1, 3),
        timeout_ms=st.just(None) if is_pure else st.sampled_from([None, None, 20, 1000]),
        ends=st.sampled_from(["await", "cancel"] if is_pure else ["await", "cancel", "later", "any"]),
    )


def _children(*, is_pure: bool) -> st.SearchStrategy[p.Child]:
    return st.builds(
        p.Child,
        prompts=st.integers(1, 2 if is_pure else 3),
        timeout_ms=st.just(None) if is_pure else st.sampled_from([None, None, 5, 20, 1000]),
        ends=st.sampled_from(["await", "cancel"] if is_pure else ["await", "await", "cancel", "later", "any"]),
    )


def _plain() -> list[st.SearchStrategy[Any]]:
    return [
        st.builds(p.Remember, path=_paths, is_sensory=st.booleans()),
        st.builds(p.Recall, path=_paths, is_sensory=st.booleans()),
        st.builds(p.Count, path=st.sampled_from(["n", "m"])),
        st.builds(p.Forget, path=_paths),
        st.just(p.Output()),
        st.just(p.Send()),
    ]


def _steps(*, is_pure: bool) -> st.SearchStrategy[Any]:
    call = _calls(is_pure=is_pure)
    several = st.lists(call, min_size=1, max_size=3).map(tuple)
    steps: list[st.SearchStrategy[Any]] = [
        call,
        call,
        st.builds(p.Sleep, _times),
        st.builds(p.Gather, several),
        st.builds(p.Batch, several, limit=st.sampled_from([None, 1, 2])),
        st.builds(
            p.Ask, prompts=st.integers(1, 2), takes_ms=_times, is_cancelled=st.sampled_from([False, False, True])
        ),
        _jobs(is_pure=is_pure),
        _children(is_pure=is_pure),
        st.just(p.Raise()),
        st.just(p.Chance()),
        *_plain(),
    ]
    if not is_pure:
        steps += [
            st.builds(p.FirstOf, several),
            st.builds(p.AllOf, several),
            st.builds(p.AsCompleted, several),
            st.builds(p.Detach, call),
            st.builds(p.Join, is_cancelled=st.booleans()),
            st.just(p.Now()),
        ]
    return st.one_of(steps)


def _bodies(inner: st.SearchStrategy[Any], size: int = 3) -> st.SearchStrategy[Any]:
    return st.lists(inner, min_size=1, max_size=size).map(tuple)


def _nested(*, is_pure: bool) -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        body = _bodies(inner)
        compound: list[st.SearchStrategy[Any]] = [
            st.builds(p.Try, body),
            st.builds(p.Branch, body, body),
            st.builds(p.Finally, body, body),
        ]
        if not is_pure:
            compound += [
                st.builds(p.WaitFor, st.sampled_from([1, 5, 20, 200]), body),
                st.builds(p.Cancel, st.sampled_from([0, 1, 10, 50]), body),
                st.builds(p.Parallel, st.lists(body, min_size=2, max_size=3).map(tuple)),
                st.builds(p.Exclusive, body),
            ]
        return st.one_of(inner, *compound)

    return st.recursive(_steps(is_pure=is_pure), extend, max_leaves=6)


def _def_body() -> st.SearchStrategy[Any]:
    call = st.builds(
        p.DefCall,
        tag=_tags,
        fails=st.sampled_from([0, 0, 1, 9]),
        has_reconciler=st.booleans(),
        is_caught=st.sampled_from([True, True, False]),
    )
    step = st.one_of(call, call, st.just(p.Raise()), st.just(p.Chance()), *_plain())
    return _bodies(st.one_of(step, st.builds(p.Try, _bodies(step)), st.builds(p.Branch, _bodies(step), _bodies(step))))


def _shown(action: p.Action) -> p.Action:
    # Output at the end, so that nothing that has happened stays unseen.
    return p.Action((*action.body, p.Output()), action.is_async)


@st.composite
def programs(draw: st.DrawFn, *, is_pure: bool = False) -> p.Program:
    """Draw a program whose actions do something of everything."""
    asynchronous = st.builds(p.Action, _bodies(_nested(is_pure=is_pure), 4))
    synchronous = st.builds(p.Action, _def_body(), st.just(False))
    action = st.one_of(asynchronous, asynchronous, synchronous).map(_shown)
    # Two executions that wait at the same time take turns as their calls end, which is a matter of timing.
    on_event = synchronous.map(_shown) if is_pure else action
    in_child = tuple(draw(st.lists(action, min_size=1, max_size=1 if is_pure else 2)))
    keys = st.sampled_from(["k", "l"])
    return p.Program(
        on_input=tuple(draw(st.lists(action, min_size=1, max_size=1 if is_pure else 2))),
        on_event=tuple(draw(st.lists(on_event, max_size=2))),
        # Some of them are identical, and must be told apart all the same.
        inputs=tuple((draw(keys), draw(st.sampled_from([0, number]))) for number in range(draw(st.integers(1, 4)))),
        in_child=in_child,
        in_child_on_event=tuple(draw(st.lists(on_event, max_size=1))),
        is_pure=is_pure,
    )
