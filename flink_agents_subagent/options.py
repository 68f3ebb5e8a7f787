"""Every option, in one table: name, kind, default, text. Owns parsing and the generated documentation; must not know who obeys an option."""

from __future__ import annotations

import difflib
import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

from flink_agents_subagent.errors import DefinitionError

__all__ = ["OPTIONS", "Option", "OptionKind", "OptionValue", "parse_option", "render_options", "resolve_options"]

OptionValue: TypeAlias = int | str | bool | None

_DURATION_UNITS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class OptionKind(enum.Enum):
    """What an option's value is, and how it is written."""

    COUNT = "whole number"
    DURATION = "duration"
    SIZE = "size"
    FLAG = "true or false"
    CHOICE = "choice"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: how it is called, what it takes, what it is without being set."""

    name: str
    kind: OptionKind
    default: str | None
    """As an author would write it; None: no value."""
    text: str
    choices: tuple[str, ...] = ()
    minimum: int = 0


def _count(name: str, default: int, text: str, minimum: int = 1) -> Option:
    return Option(name, OptionKind.COUNT, str(default), text, minimum=minimum)


def _choice(name: str, choices: tuple[str, ...], text: str) -> Option:
    return Option(name, OptionKind.CHOICE, choices[0], text, choices=choices)


def _flag(name: str, text: str) -> Option:
    return Option(name, OptionKind.FLAG, "false", text)


_TABLE = (
    _choice(
        "action-state-store",
        ("embedded", "kafka", "memory"),
        "Where the outcomes of durable calls are kept. `embedded`: files in `store.embedded.dir`, which every "
        "TaskManager of the job must reach. `kafka`: a topic at `store.kafka.bootstrap-servers`. `memory`: nowhere; "
        "every call is repeated after a failure.",
    ),
    _count("call-threads", 64, "Threads per subtask for blocking durable calls, and as many for Java sub-agents."),
    _choice(
        "event-log",
        ("off", "file", "slf4j"),
        "Writes what runs do as lines of JSON ([event log](event-log.md)). `file`: to files of a bounded number below "
        "`event-log.file.directory`. `slf4j`: to the logger `io.github.flinkagents.subagent.events` of the TaskManager.",
    ),
    Option(
        "event-log.file.directory",
        OptionKind.TEXT,
        None,
        "Folder of the event log's files, made where it is missing; needed for `event-log: file`.",
    ),
    _count(
        "event-log.file.max-files",
        8,
        "Files of the event log that are kept for each subtask, those of earlier attempts included.",
    ),
    Option(
        "event-log.file.max-size",
        OptionKind.SIZE,
        "64 MiB",
        "Size at which a file of the event log is full, and the next one is begun.",
        minimum=1024,
    ),
    _choice(
        "event-log.level",
        ("standard", "verbose"),
        "`standard` writes names, ids, states and durations; `verbose` also inputs, arguments, results and error messages, which may be confidential.",
    ),
    Option(
        "job-identifier",
        OptionKind.TEXT,
        None,
        "Names the job in the store and in every derived id. Without it each submission has a new one; a job that is "
        "restored from a checkpoint or savepoint keeps the one that it was started with.",
    ),
    Option(
        "journal.max-record-bytes",
        OptionKind.SIZE,
        "8 MiB",
        "Largest record of a journal. A larger result fails the job with the call named, before it is stored.",
        minimum=1024,
    ),
    _choice(
        "journal.pickle",
        ("deny", "allow"),
        "`allow` journals results of any type that can be pickled. Whoever may write to the store can then run code "
        "in the job.",
    ),
    _flag("log-keys", "Show keys in errors and logs as they are. Otherwise a hash stands for them."),
    _count(
        "max-abandoned-calls",
        64,
        "Blocking calls per subtask that timed out or were cancelled and still hold a thread. Beyond it new blocking "
        "calls wait until one of them returns.",
        minimum=0,
    ),
    _count("max-concurrent-calls", 10_000, "Durable coroutine calls per subtask that run at the same time."),
    _count(
        "max-held-inputs",
        100_000,
        "Inputs per subtask that are active or queued. Beyond it the operator takes no input, and while that lasts no "
        "checkpoint passes.",
    ),
    _count(
        "max-tool-rounds",
        25,
        "How many times in a row a chat model may ask for tools in one chat request. Beyond it the request fails with the reason `rounds`.",
        minimum=0,
    ),
    _choice(
        "on-action-error",
        ("fail", "dead-letter"),
        "What an exception that escapes an action does: `fail` the job, or drop the run's memory writes and send the "
        "input with the error to the dead-letter side output.",
    ),
    _choice(
        "replay.on-mismatch",
        ("fail", "rerun"),
        "What happens when a replayed action makes another call than the one recorded: `fail` the job with both named, "
        "or discard the journal of the run from there on and call again.",
    ),
    Option(
        "replay.unclaimed-retention",
        OptionKind.DURATION,
        "1 h",
        "How long a journal found after a restore waits for the input that it belongs to.",
    ),
    Option(
        "short-term-memory.ttl",
        OptionKind.DURATION,
        None,
        "How long an entry of short-term memory is kept after it was last written. Without it entries never expire.",
        minimum=1,
    ),
    _flag(
        "store.allow-lost-tail",
        "Restore although the store has lost records that are needed; their calls are repeated.",
    ),
    Option(
        "store.embedded.dir",
        OptionKind.TEXT,
        None,
        "Folder of the embedded store, on a disk that outlives the TaskManager. Without it "
        "`flink-agents-subagent-store` in the temporary folder of the TaskManager's Java (`java.io.tmpdir`).",
    ),
    Option(
        "store.kafka.bootstrap-servers",
        OptionKind.TEXT,
        None,
        "Addresses of Kafka brokers, as in `broker-1:9092,broker-2:9092`; needed for `action-state-store: kafka`.",
    ),
    _count(
        "store.kafka.partitions",
        32,
        "Partitions of a topic that the store creates. More than the job's max parallelism are of no use.",
    ),
    Option(
        "store.kafka.properties.*",
        OptionKind.TEXT,
        None,
        "Any property of the Kafka clients by its own name, as in `store.kafka.properties.security.protocol`. "
        "Class names of Kafka's own stay as its documentation has them.",
    ),
    _count(
        "store.kafka.replication-factor",
        -1,
        "Replicas of a topic that the store creates; `-1` is what the brokers are set to.",
        minimum=-1,
    ),
    Option(
        "store.kafka.topic",
        OptionKind.TEXT,
        None,
        "The topic, which several jobs may share; the store then deletes nothing, so that its `retention.ms` has to be "
        "longer than a job can be down. Without it each operator has a topic "
        "`<prefix>.<job identifier>.<operator uid>` for itself, from which the store deletes what no checkpoint needs.",
    ),
    Option(
        "store.kafka.topic-prefix",
        OptionKind.TEXT,
        "flink-agents-subagent",
        "Begins the names of the topics that operators have for themselves.",
    ),
    Option(
        "store.kafka.topic-properties.*",
        OptionKind.TEXT,
        None,
        "Any property of a topic that the store creates, as in `store.kafka.topic-properties.min.insync.replicas`. "
        "Where `segment.bytes` is not given, it is 16 MiB, so that brokers soon free what the store deletes.",
    ),
    _choice(
        "store.on-corrupt",
        ("fail", "skip"),
        "What a record that cannot be read does on recovery: `fail` the job with its address, or set it aside with a warning.",
    ),
    _count("store.retained-checkpoints", 2, "Completed checkpoints whose records the store keeps."),
    _count(
        "subagent.max-calls-per-run",
        1000,
        "Calls of sub-agents that a run may make. Beyond it a call gives a failed result with the reason `limit`.",
        minimum=0,
    ),
    _count(
        "subagent.max-depth",
        8,
        "How deep sub-agents may be nested; one that an action calls has depth 1. Beyond it a call gives a failed result with "
        "the reason `limit`. `0` forbids all.",
        minimum=0,
    ),
    _count(
        "tool-call.parallelism",
        16,
        "Tools that run at the same time for one message of a chat model. Sub-agents that it calls are not counted; theirs is `max_concurrency`.",
    ),
    Option(
        "tool-call.timeout",
        OptionKind.DURATION,
        "5 min",
        "How long a tool may take when neither it nor the chat model says otherwise. Then the model is told that it timed out.",
        minimum=1,
    ),
)

OPTIONS: Mapping[str, Option] = {option.name: option for option in _TABLE}
"""By name. A name that ends in `.*` stands for all options that begin alike."""

_ANY = "*"


def parse_option(name: str, value: Any) -> OptionValue:
    """Return the value of an option as both halves use it: durations in milliseconds, sizes in bytes.

    Args:
        name: The option's name.
        value: A text as in a configuration file (`"1 h"`, `"8 MiB"`, `"true"`), or the Python value: an int for a
            number or a size in bytes, a bool, a `timedelta`.

    Raises:
        DefinitionError: The option does not exist (the nearest ones are named), or it cannot have this value.
    """
    option = _find(name)
    if option is None:
        near = difflib.get_close_matches(name, OPTIONS, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "docs/options.md lists them all"
        raise DefinitionError(f"there is no option {name!r}; {hint}")
    return _PARSERS[option.kind](option, value)


def resolve_options(given: Mapping[str, Any]) -> dict[str, OptionValue]:
    """Return every option with its value, those not in `given` with their default; of a family (`.*`) those given.

    Raises:
        DefinitionError: As `parse_option`.
    """
    resolved: dict[str, OptionValue] = {
        name: None if option.default is None else parse_option(name, option.default)
        for name, option in OPTIONS.items()
        if not name.endswith(_ANY)
    }
    resolved.update((name, parse_option(name, value)) for name, value in given.items())
    return resolved


def render_options() -> str:
    """Return `docs/options.md`: the table as text for readers."""
    lines = [
        "# Options",
        "",
        "Set them with `env.set_option(name, value)`, or in a [YAML file](yaml.md).",
        "Durations have a unit (`500 ms`, `10 s`, `5 min`, `1 h`, `7 d`), sizes too (`512 KiB`, `8 MiB`).",
        "",
        "| option | takes | default | meaning |",
        "|---|---|---|---|",
    ]
    for option in OPTIONS.values():
        takes = ", ".join(f"`{choice}`" for choice in option.choices) or option.kind.value
        default = "none" if option.default is None else f"`{option.default}`"
        lines.append(f"| `{option.name}` | {takes} | {default} | {option.text} |")
    return "\n".join(lines) + "\n"


def _find(name: str) -> Option | None:
    """Return the option of this name, or the family that it belongs to under its name."""
    if name.endswith(_ANY):
        return None
    for family in (option for option in _TABLE if option.name.endswith(_ANY)):
        prefix = family.name.removesuffix(_ANY)
        if name.startswith(prefix) and name != prefix:
            return replace(family, name=name)
    return OPTIONS.get(name)


def _refuse(option: Option, value: Any, wanted: str) -> DefinitionError:
    return DefinitionError(f"option {option.name!r} cannot be {value!r}; give {wanted}")


def _parse_count(option: Option, value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d[\d_]*\s*", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < option.minimum:
        raise _refuse(option, value, f"a whole number of at least {option.minimum}")
    return value


def _parse_duration(option: Option, value: Any) -> int:
    wanted = f"a timedelta or a text with one of the units {', '.join(_DURATION_UNITS)}, as in '90 s'"
    is_delta = isinstance(value, timedelta)
    duration = (
        round(value / timedelta(milliseconds=1))
        if is_delta
        else _parse_with_unit(option, value, _DURATION_UNITS, wanted)
    )
    if duration < option.minimum:
        raise _refuse(option, value, f"{wanted}, at least {option.minimum} ms")
    return duration


def _parse_size(option: Option, value: Any) -> int:
    wanted = f"bytes or a text with one of the units {', '.join(_SIZE_UNITS)}, at least {option.minimum} bytes, as in '8 MiB'"
    size = value if _is_int(value) else _parse_with_unit(option, value, _SIZE_UNITS, wanted)
    if size < option.minimum:
        raise _refuse(option, value, wanted)
    return int(size)


def _parse_with_unit(option: Option, value: Any, units: Mapping[str, int], wanted: str) -> int:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", value) if isinstance(value, str) else None
    if match is None or match[2] not in units:
        raise _refuse(option, value, wanted)
    return round(float(match[1]) * units[match[2]])


def _parse_flag(option: Option, value: Any) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise _refuse(option, value, "true or false")
    return value


def _parse_choice(option: Option, value: Any) -> str:
    if value not in option.choices:
        near = difflib.get_close_matches(str(value), option.choices, n=1)
        raise _refuse(option, value, f"{near[0]!r}" if near else f"one of {', '.join(map(repr, option.choices))}")
    return str(value)


def _parse_text(option: Option, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _refuse(option, value, "a text that is not blank")
    return value


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_PARSERS: Mapping[OptionKind, Callable[[Option, Any], OptionValue]] = {
    OptionKind.COUNT: _parse_count,
    OptionKind.DURATION: _parse_duration,
    OptionKind.SIZE: _parse_size,
    OptionKind.FLAG: _parse_flag,
    OptionKind.CHOICE: _parse_choice,
    OptionKind.TEXT: _parse_text,
}
