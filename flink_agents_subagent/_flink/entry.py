"""Every function that Java calls (decision 0003). Owns the border and nothing behind it: each function looks up its operator and hands over.

No exception leaves this module: one that C code raised without a value would end the process. It is reported to the Java
side instead, whose call then throws it. Only `int`, ASCII `str`, `bytes` and None cross.
"""

from __future__ import annotations

import functools
import inspect
import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from flink_agents_subagent._flink.background import BackgroundLoop
from flink_agents_subagent._flink.failure import describe_failure
from flink_agents_subagent._flink.host import OperatorHost
from flink_agents_subagent._flink.port import JavaHost
from flink_agents_subagent._flink.process import note_end, set_up_process
from flink_agents_subagent._flink.selector import load_selector, select_keys

__all__ = [
    "answer_calls",
    "close",
    "close_key",
    "drain",
    "handshake",
    "keys_of",
    "open",
    "open_key",
    "process",
    "restore_entry",
    "restore_record",
    "run_call",
    "run_loop",
    "snapshot",
    "start",
    "stop_loop",
]

PROTOCOL_VERSION = 2
FAILED = "failed"
"""What a function returns when it has reported an exception."""

_logger = logging.getLogger(__name__)
_Function = TypeVar("_Function", bound=Callable[..., Any])

_arities: dict[str, int] = {}
_java: dict[str, JavaHost] = {}
_hosts: dict[str, OperatorHost] = {}
_loops: dict[str, BackgroundLoop] = {}
_selectors: dict[str, Callable[[bytes], bytes]] = {}
_loops_lock = threading.Lock()


def _entry_point(function: _Function) -> _Function:
    """Register a function by name and arity, and keep its exceptions on this side."""
    _arities[function.__name__] = len(inspect.signature(function).parameters)

    @functools.wraps(function)
    def guarded(*args: Any) -> Any:
        try:
            return function(*args)
        except BaseException as error:  # noqa: BLE001 - the border: nothing may pass, SystemExit included
            return _report(args, error)

    return guarded  # type: ignore[return-value]  # same signature


def _report(args: tuple[Any, ...], error: BaseException) -> str:
    # The first argument is the Java host while an operator is opened, and the operator's instance id from then on.
    target = args[0] if args else None
    java = _java.get(target) if isinstance(target, str) else target
    if java is not None:
        java.fail(describe_failure(error))
    else:
        _logger.error("an entry point failed for no operator", exc_info=error)
    return FAILED


@_entry_point
def handshake() -> str:
    """Return protocol version, names and arities, for Java to compare with its own (P6)."""
    return ";".join([str(PROTOCOL_VERSION), *(f"{name}/{arity}" for name, arity in sorted(_arities.items()))])


@_entry_point
def open(host: JavaHost, instance: str, plan: bytes, settings: bytes) -> None:  # noqa: A001 - the name that Java calls
    """Make the engine of one operator instance; blocks until its resources are open."""
    _java[instance] = host
    set_up_process()
    _hosts[instance] = OperatorHost(host, _loop_of(instance), plan, settings)
    _hosts[instance].open()


@_entry_point
def restore_entry(instance: str, key: bytes, entry: bytes) -> int:
    """Restore a key from its checkpoint entry; return the number of inputs in it."""
    return _hosts[instance].restore_entry(key, entry)


@_entry_point
def restore_record(instance: str, key: bytes, run_number: int, record_number: int, payload: bytes) -> None:
    """Restore a record that was appended after the checkpoint."""
    _hosts[instance].restore_record(key, run_number, record_number, payload)


@_entry_point
def start(instance: str, now: int) -> bytes | None:
    """End the restore phase; return the effects, as all commands from here on do."""
    return _hosts[instance].start(now)


@_entry_point
def process(instance: str, inputs: bytes) -> bytes | None:
    """Take inputs."""
    return _hosts[instance].process(inputs)


@_entry_point
def drain(instance: str, seqs: bytes, now: int) -> bytes | None:
    """Take acknowledgements, completions and due deadlines."""
    return _hosts[instance].drain(seqs, now)


@_entry_point
def answer_calls(instance: str, packed: bytes) -> None:
    """Take what Java sub-agents have answered."""
    _hosts[instance].java_subagents.answer(packed)


@_entry_point
def snapshot(instance: str, now: int) -> bytes | None:
    """Write the entries of changed keys."""
    return _hosts[instance].snapshot(now)


@_entry_point
def run_call(instance: str, call: int) -> None:
    """Run a blocking call on this thread; nothing when the operator is closed meanwhile."""
    host = _hosts.get(instance)
    if host is not None:
        host.calls.run_blocking(call)


@_entry_point
def run_loop(instance: str) -> None:
    """Run the background loop on this thread until it is stopped."""
    _loop_of(instance).run()


@_entry_point
def stop_loop(instance: str) -> None:
    """Stop the background loop, also one that has not started yet."""
    _loop_of(instance).stop()
    with _loops_lock:
        _loops.pop(instance, None)
    _java.pop(instance, None)
    note_end()


@_entry_point
def close(instance: str) -> None:
    """Seal the engine and close the resources; the loop still runs."""
    host = _hosts.pop(instance, None)
    if host is not None:
        host.close()


@_entry_point
def open_key(host: JavaHost, instance: str, selector: bytes) -> None:
    """Load the key selector of a key operator."""
    _java[instance] = host
    set_up_process()
    _selectors[instance] = load_selector(selector)


@_entry_point
def keys_of(instance: str, values: bytes) -> bytes:
    """Return the canonical keys of values, of the first ones at least; both packed."""
    return select_keys(_selectors[instance], values)


@_entry_point
def close_key(instance: str) -> None:
    """Forget a key selector."""
    _selectors.pop(instance, None)
    _java.pop(instance, None)
    note_end()


def _loop_of(instance: str) -> BackgroundLoop:
    # The loop's thread and the task's thread ask for it in no particular order.
    with _loops_lock:
        return _loops.setdefault(instance, BackgroundLoop())
