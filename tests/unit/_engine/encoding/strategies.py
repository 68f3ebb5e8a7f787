"""Hypothesis strategies for every type that the durable encoding knows (E3.3)."""

from __future__ import annotations

import datetime as dt
import decimal
import zoneinfo
from typing import Any

from hypothesis import strategies as st

from flink_agents_subagent._engine.encoding import Record
from tests.conformance.samples import Colour, Order, PaymentError, Point, Quote, Right

_text = st.text(st.characters(), max_size=8)  # lone surrogates included
_zones = st.sampled_from(
    [
        None,
        dt.timezone.utc,
        dt.timezone(dt.timedelta(minutes=-90)),
        dt.timezone(dt.timedelta(hours=2), "CEST"),
        zoneinfo.ZoneInfo("Europe/Berlin"),
        zoneinfo.ZoneInfo("UTC"),
    ]
)

_plain_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**63 - 2, max_value=2**65),
    st.floats(),
    _text,
    st.sampled_from(["$tuple", "$", '{"$tuple":[]}']),
    st.binary(max_size=8),
    st.decimals().filter(lambda number: not number.is_snan()),
    st.dates(),
    st.times(timezones=_zones),
    st.datetimes(timezones=_zones),
    st.timedeltas(),
    st.uuids(),
    st.sampled_from([*Colour, Right.READ, Right.READ | Right.WRITE, Right(0)]),
)
scalars = st.one_of(_plain_scalars, st.just(decimal.Decimal("sNaN12")))
# A signalling NaN cannot be hashed.
_hashable = st.recursive(
    _plain_scalars, lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)), max_leaves=4
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "$c", "with space"])
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(_hashable, inner, max_size=4),
        st.dictionaries(names, inner, max_size=4),
        st.sets(_hashable, max_size=4),
        st.frozensets(_hashable, max_size=4),
        st.builds(Point, inner, inner),
        st.builds(Order, st.integers(), _text, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Quote, price=st.floats(allow_nan=False), tags=st.lists(_text, max_size=2), more=inner),
        st.builds(Record, st.just(("x", "y")), st.tuples(inner, inner)),
        st.builds(Record, st.none(), st.tuples(inner)),
    )


def _containers_and_exceptions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(_containers(inner), st.builds(PaymentError, st.integers()), st.builds(ValueError, inner, inner))


data: st.SearchStrategy[Any] = st.recursive(scalars, _containers, max_leaves=12)
values: st.SearchStrategy[Any] = st.recursive(scalars, _containers_and_exceptions, max_leaves=12)
