"""What crosses the border: failures, memory, counters, and no exception."""

from __future__ import annotations

import gc
import logging
import struct
import sys
import weakref
from collections.abc import Callable
from types import ModuleType

import pytest

from flink_agents_subagent._engine.effects import Append, Count, Observe
from flink_agents_subagent._flink import entry
from flink_agents_subagent._flink.failure import describe_failure
from flink_agents_subagent._flink.keyed import KeyedState, MailboxStore, pack_entries
from flink_agents_subagent._flink.metrics import Metrics
from flink_agents_subagent._flink.process import note_interpreter, set_up_process
from flink_agents_subagent.errors import ReplayMismatchError, StoreError
from tests.unit._flink.fakes import FakeJava


def _described(error: BaseException) -> dict[str, str]:
    java = FakeJava()
    java.fail(describe_failure(error))
    return java.failures[0]


def test_a_failure_keeps_code_type_message_and_causes() -> None:
    """Nothing of an exception that a reader needs is lost on its way to Java [P5]."""
    error = ReplayMismatchError("slot 3")
    error.__cause__ = ValueError("é \ud800")

    described = _described(error)

    assert described["code"] == "replay_mismatch"
    assert described["type"] == "ReplayMismatchError"
    assert described["message"] == "slot 3"
    assert "ValueError: é" in described["traceback"]
    assert "ReplayMismatchError: slot 3" in described["traceback"]


def test_an_exception_that_cannot_be_shown_is_still_a_failure() -> None:
    """A `__str__` that raises does not hide the failure [P5]."""

    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    described = _described(BrokenError())

    assert described["code"] == "python"
    assert "RuntimeError" in described["message"]


def test_a_huge_message_is_shortened() -> None:
    """A failure stays small enough to be shown by the JobManager [P5]."""
    described = _described(ValueError("x" * 1_000_000))

    assert len(described["message"]) < 110_000
    assert "left out" in described["message"]


def test_no_exception_leaves_an_entry_point() -> None:
    """An unknown plan is reported to the Java side; the call itself returns [P5, P6]."""
    java = FakeJava()

    status = entry.open(java, "test-open", b"no plan", b"{}")

    assert status == entry.FAILED
    assert [failure["type"] for failure in java.failures] == ["KeyError"]
    entry.close("test-open")
    entry.stop_loop("test-open")


def test_an_entry_point_for_a_closed_operator_says_that_it_failed(caplog: pytest.LogCaptureFixture) -> None:
    """Without an operator to report to, the status tells [P5]."""
    with caplog.at_level(logging.CRITICAL, "flink_agents_subagent"):
        assert entry.drain("unknown", b"", 0) == entry.FAILED


def test_a_late_worker_of_a_closed_operator_does_nothing() -> None:
    """A call that starts after its operator was closed is not an error [P3]."""
    assert entry.run_call("unknown", 1) is None


def test_closing_twice_is_harmless() -> None:
    """An operator that never opened can be closed, again and again [P3]."""
    entry.close("unknown")
    entry.stop_loop("unknown")
    entry.close("unknown")
    entry.close_key("unknown")


def test_memory_entries_are_packed() -> None:
    """Paths are any text; a removal has length −1 [E6.2]."""
    packed = pack_entries({"é": b"12", "\ud800": None})

    assert packed == b"".join(
        (struct.pack(">I", 2), "é".encode(), struct.pack(">i", 2), b"12", struct.pack(">I", 3), b"\xed\xa0\x80")
    ) + struct.pack(">i", -1)


def test_memory_is_read_by_the_same_path() -> None:
    """A path is read under the name that it was written with [E6.1]."""
    java = FakeJava()
    java.memory[b"k", "é".encode()] = b"1"

    assert KeyedState(java).read(b"k", "é") == b"1"
    assert KeyedState(java).read(b"k", "e") is None


def test_a_failing_blocking_append_is_a_store_error() -> None:
    """What Java raises is a store's failure to the engine [E3.16]."""
    java = FakeJava()
    java.commit_error = RuntimeError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        MailboxStore(java).commit(Append(1, b"k", 1, 1, b""))


def test_counters_are_gathered() -> None:
    """Increments cross summed up, values together, when half a second is over [E7.1]."""
    java = FakeJava()
    gathered = [Count("calls", "f", 6), Observe("latency", "f", [9, 7])]
    metrics = Metrics(java, lambda: [gathered.pop(0) for _ in list(gathered)])
    metrics._flushed_ms = 1000
    metrics.flush_if_due(1499)
    assert java.counted == []
    assert java.observed == []

    metrics.flush_if_due(1500)
    metrics.flush_if_due(9999)

    assert java.counted == [("calls", "f", 6)]
    assert java.observed == [("latency", "f", 9), ("latency", "f", 7)]


def test_the_process_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search path has no doubles and no folders of ended attempts; suppressed log records stay cheap [P3, PF9]."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "level", logging.DEBUG)
    monkeypatch.setattr(sys, "path", ["/a", "/gone/python-dist-1/x", "/b", "/a"])
    interval = sys.getswitchinterval()

    set_up_process()

    assert sys.path == ["/a", "/b"]
    assert root.level == logging.INFO
    assert sys.getswitchinterval() == pytest.approx(0.0005)
    sys.setswitchinterval(interval)


def test_modules_of_ended_interpreters_are_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the bridge leaves of each interpreter shrinks to a bare module; the newest and other modules stay whole [P3, PF9]."""
    ended, newest, other = (ModuleType(name) for name in ("_pemja", "_pemja", "other"))
    interval = sys.getswitchinterval()
    for module in (ended, newest, newest):
        vars(module)["JINT_ID"] = 1
        monkeypatch.setitem(sys.modules, "_pemja", module)
        note_interpreter()

    set_up_process()

    assert vars(ended) == {"__name__": "_pemja"}
    assert (vars(newest)["JINT_ID"], other.__name__) == (1, "other")
    monkeypatch.setitem(sys.modules, "_pemja", other)
    set_up_process()
    assert vars(newest) == {"__name__": "_pemja"}
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("name", ["get_objects", "get_referrers"])
def test_opening_takes_hold_of_no_foreign_objects(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An operator that opens asks for no object of the process: a tuple that another thread is just making would fail [P3]."""
    interval = sys.getswitchinterval()
    monkeypatch.setattr(gc, name, lambda *_: pytest.fail(f"gc.{name} was called"))
    note_interpreter()

    set_up_process()

    sys.setswitchinterval(interval)


@pytest.mark.parametrize("end", [entry.stop_loop, entry.close_key])
def test_what_an_ended_attempt_left_is_collected_by_the_next(end: Callable[[str], object]) -> None:
    """Objects in circles go with the next attempt, and not some dozens of attempts later [P3, PF9]."""

    class Left:
        circle: Left

    left, interval = Left(), sys.getswitchinterval()
    left.circle = left
    is_there = weakref.ref(left)
    gc.disable()

    try:
        del left
        end("ended")
        assert is_there() is not None
        set_up_process()
    finally:
        gc.enable()
        sys.setswitchinterval(interval)

    assert is_there() is None


@pytest.mark.parametrize(("before", "after"), [(700, 50_000), (100_000, 100_000), (0, 0)])
def test_the_collector_runs_rarely(before: int, after: int) -> None:
    """It is made rarer, unless somebody has made it rarer still or switched it off [PF2]."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(before, *thresholds[1:])

    try:
        set_up_process()

        assert gc.get_threshold() == (after, *thresholds[1:])
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)
