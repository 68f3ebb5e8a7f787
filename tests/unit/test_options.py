"""Options: parsing, refusals, and that the documentation is current."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.options import OPTIONS, OptionKind, parse_option, render_options, resolve_options

_DOCS = Path(__file__).parents[2] / "docs" / "options.md"


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("max-held-inputs", "1_000", 1000),
        ("max-held-inputs", 7, 7),
        ("max-abandoned-calls", 0, 0),
        ("replay.unclaimed-retention", "500 ms", 500),
        ("replay.unclaimed-retention", "1.5h", 5_400_000),
        ("replay.unclaimed-retention", "2 d", 172_800_000),
        ("replay.unclaimed-retention", timedelta(seconds=1.5), 1500),
        ("journal.max-record-bytes", "8 MiB", 8 * 1024 * 1024),
        ("journal.max-record-bytes", 4096, 4096),
        ("log-keys", "TRUE", True),
        ("log-keys", False, False),
        ("on-action-error", "dead-letter", "dead-letter"),
        ("store.embedded.dir", "/data/store", "/data/store"),
        ("store.kafka.replication-factor", "-1", -1),
        ("store.kafka.properties.security.protocol", "SASL_SSL", "SASL_SSL"),
    ],
)
def test_values_are_parsed(name: str, value: Any, parsed: Any) -> None:
    """Texts as in a file and Python values give the same: milliseconds, bytes, flags."""
    assert parse_option(name, value) == parsed
    assert type(parse_option(name, value)) is type(parsed)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("max-held-inputs", 0, "at least 1"),
        ("max-held-inputs", True, "whole number"),
        ("max-held-inputs", "many", "whole number"),
        ("replay.unclaimed-retention", 500, "one of the units ms, s, min, h, d"),
        ("replay.unclaimed-retention", "5 hours", "as in '90 s'"),
        ("replay.unclaimed-retention", timedelta(seconds=-1), "timedelta"),
        ("short-term-memory.ttl", "0 s", "at least 1 ms"),
        ("journal.max-record-bytes", "8 MB", "B, KiB, MiB, GiB"),
        ("journal.max-record-bytes", 3, "at least 1024 bytes"),
        ("log-keys", "yes", "true or false"),
        ("on-action-error", "deadletter", "give 'dead-letter'"),
        ("on-action-error", "ignore", "one of 'fail', 'dead-letter'"),
        ("store.kafka.replication-factor", "-2", "at least -1"),
        ("store.kafka.properties.linger.ms", 5, "a text"),
        ("job-identifier", " ", "not blank"),
        ("job-identifier", None, "not blank"),
    ],
)
def test_wrong_values_are_refused_with_the_remedy(name: str, value: Any, says: str) -> None:
    """A refusal names the option, the value and what would do."""
    with pytest.raises(DefinitionError, match=f"option '{name}' cannot be .*{says}"):
        parse_option(name, value)


def test_an_unknown_name_suggests_the_nearest() -> None:
    """A misspelt option is not ignored."""
    with pytest.raises(DefinitionError, match="no option 'max-held-input'; did you mean max-held-inputs"):
        parse_option("max-held-input", 1)
    with pytest.raises(DefinitionError, match=r"no option 'zzz'; docs/options\.md lists them all"):
        parse_option("zzz", 1)


def test_resolving_gives_every_option() -> None:
    """Neither half keeps defaults of its own, so that every option has a value or an explicit none."""
    resolved = resolve_options({"call-threads": "3"})

    assert resolved.keys() == OPTIONS.keys() - {"store.kafka.properties.*", "store.kafka.topic-properties.*"}
    assert (resolved["call-threads"], resolved["job-identifier"], resolved["replay.unclaimed-retention"]) == (
        3,
        None,
        3_600_000,
    )


def test_a_family_of_options_takes_any_name_of_it() -> None:
    """Properties of the Kafka clients, and of their topic, are options by their own names; the family itself is none [S2.1]."""
    given = {"store.kafka.properties.linger.ms": "5", "store.kafka.topic-properties.segment.bytes": "1048576"}

    resolved = resolve_options(given)

    assert given.items() <= resolved.items()
    for name in ("store.kafka.properties.", "store.kafka.properties.*", "store.kafka.topic-properties.*"):
        with pytest.raises(DefinitionError, match="there is no option"):
            parse_option(name, "5")


def test_the_table_is_sorted_and_sound() -> None:
    """Names are kebab-case and sorted, texts are sentences, choices hold their default."""
    assert list(OPTIONS) == sorted(OPTIONS)
    for option in OPTIONS.values():
        assert option.name == option.name.lower().replace("_", "-")
        assert option.text.endswith(".")
        assert (option.kind is OptionKind.CHOICE) == bool(option.choices)


def test_the_documentation_is_current() -> None:
    """docs/options.md is the table; `python scripts/write_options.py` rewrites it."""
    assert _DOCS.read_text(encoding="utf-8") == render_options()
