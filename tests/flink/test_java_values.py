"""Values of typed Java streams, as the embedded Python reads them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from flink_agents_subagent._engine.encoding import Record
from flink_agents_subagent._flink.formats import decoder
from tests.flink.mini_cluster import MiniCluster

pytestmark = pytest.mark.flink

_CASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "null": (lambda jvm: None, None),
    "boolean": (lambda jvm: True, True),
    "int": (lambda jvm: -(1 << 31), -(1 << 31)),
    "long": (lambda jvm: jvm.Long.parseLong(str(-(1 << 63))), -(1 << 63)),
    "big integer": (lambda jvm: jvm.java.math.BigInteger("9" * 700), int("9" * 700)),
    "negative big integer": (lambda jvm: jvm.java.math.BigInteger("-129"), -129),
    "double": (lambda jvm: 1.5, 1.5),
    "infinity": (lambda jvm: jvm.Double.POSITIVE_INFINITY, float("inf")),
    "decimal": (lambda jvm: jvm.java.math.BigDecimal("1.10"), Decimal("1.10")),
    "text": (lambda jvm: "é|😀", "é|😀"),
    "half a surrogate pair": (lambda jvm: jvm.java.lang.StringBuilder("a😀").deleteCharAt(2), "a\ud83d"),
    "bytes": (lambda jvm: b"\x00\xff", b"\x00\xff"),
    "date": (lambda jvm: jvm.java.time.LocalDate.of(2024, 2, 29), dt.date(2024, 2, 29)),
    "time": (lambda jvm: jvm.java.time.LocalTime.of(1, 2, 3, 4000), dt.time(1, 2, 3, 4)),
    "date and time": (lambda jvm: jvm.java.time.LocalDateTime.of(2024, 1, 2, 3, 4), dt.datetime(2024, 1, 2, 3, 4)),  # noqa: DTZ001 - has none
    "instant": (
        lambda jvm: jvm.java.time.Instant.ofEpochMilli(1500),
        dt.datetime(1970, 1, 1, 0, 0, 1, 500000, dt.timezone.utc),
    ),
    "duration": (lambda jvm: jvm.java.time.Duration.ofMillis(-1), dt.timedelta(milliseconds=-1)),
}


def _read(cluster: MiniCluster, value: Any) -> Any:
    pickler = cluster.jvm.io.github.flinkagents.subagent.operator.JavaValuePickler
    return decoder("java", {})(bytes(pickler.pickle(value)))


@pytest.mark.parametrize(("make", "expected"), _CASES.values(), ids=_CASES)
def test_a_java_value_is_read_as_its_python_counterpart(
    cluster: MiniCluster, make: Callable[[Any], Any], expected: Any
) -> None:
    """A value has the same value and the fitting type on the Python side [P7]."""
    found = _read(cluster, make(cluster.jvm))

    assert found == expected
    assert type(found) is type(expected)


def test_containers_are_read_with_what_they_hold(cluster: MiniCluster) -> None:
    """Lists, maps, tuples and rows keep names and members [P7]."""
    jvm = cluster.jvm
    row = jvm.org.apache.flink.types.Row.withNames()
    row.setField("b", 1)
    row.setField("a", [1, "x", None])
    pair = jvm.org.apache.flink.api.java.tuple.Tuple2("k", {"n": 1})

    record = _read(cluster, row)

    assert isinstance(record, Record)
    assert dict(zip(record.names or (), record.values, strict=True)) == {"b": 1, "a": [1, "x", None]}
    assert _read(cluster, pair) == ("k", {"n": 1})
