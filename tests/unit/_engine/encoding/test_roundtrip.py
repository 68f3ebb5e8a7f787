from __future__ import annotations

import copy
import hashlib
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from flink_agents_subagent._engine.encoding import (
    TypeRegistry,
    ValueCodec,
    canonical,
    fingerprint,
    key_bytes,
    key_value,
)
from tests.conformance.samples import TYPES
from tests.unit._engine.encoding.same import alike, same
from tests.unit._engine.encoding.strategies import data, values

_CODEC = ValueCodec(TypeRegistry(TYPES), allow_pickle=False)
_ROOT = Path(__file__).resolve().parents[4]


@given(values)
@example({"a": {"$tuple": 1}, "$b": {"a": float("nan")}})
def test_a_value_comes_back_the_same(value: Any) -> None:
    """Any nesting of the known types is decoded with the same values and types [E3.5]."""
    assert same(_CODEC.decode(_CODEC.encode(value)), value)


@given(values)
def test_encoding_is_stable(value: Any) -> None:
    """What was decoded is encoded to the same bytes [E3.5]."""
    encoded = _CODEC.encode(value)

    assert _CODEC.encode(_CODEC.decode(encoded)) == encoded


@given(values)
def test_an_equal_value_has_an_equal_encoding(value: Any) -> None:
    """A deep copy, and the value from the journal, have the canonical bytes of the original [E3.3]."""
    encoded = canonical(value)

    assert canonical(copy.deepcopy(value)) == encoded
    assert canonical(_CODEC.decode(_CODEC.encode(value))) == encoded


@given(data, data)
def test_values_share_an_encoding_exactly_if_they_are_alike(left: Any, right: Any) -> None:
    """Canonical bytes are equal for equal value and type, and different otherwise [E3.3]."""
    assert (canonical(left, strict=True) == canonical(right, strict=True)) == alike(left, right)


@given(values)
@example({"a" * 100: [1, -1, True, None, 1.5, float("nan"), b"\x00", ("", "\ud800")]})
def test_an_encoding_does_not_depend_on_what_is_beside_the_value(value: Any) -> None:
    """A value has the same canonical bytes alone and next to one that is not plain [E3.3]."""
    beside = Decimal(1)

    assert canonical([value, beside]) == b"l\x00\x00\x00\x02" + canonical(value) + canonical(beside)


@given(st.lists(values, max_size=3))
def test_a_call_without_names_is_fingerprinted_as_any_other(args: list[Any]) -> None:
    """The fingerprint of positional arguments is that of all arguments together [E3.3]."""
    encoded = canonical((tuple(args), {}))

    assert fingerprint(tuple(args), {}) == hashlib.blake2b(encoded, digest_size=16).digest()


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_a_dict_does_not_count(value: dict[str, int], random: Any) -> None:
    """Keyword arguments and dicts in any order have one fingerprint [E3.3]."""
    pairs = list(value.items())
    random.shuffle(pairs)

    assert fingerprint((dict(pairs),), dict(pairs)) == fingerprint((value,), value)


_keys = st.recursive(
    st.one_of(st.text(), st.integers(), st.binary(), st.booleans()),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)


@given(_keys, _keys)
def test_keys_are_their_bytes(left: Any, right: Any) -> None:
    """Keys come back from their bytes with their types, and two keys share bytes only if they are the same [S1.7]."""
    assert same(key_value(key_bytes(left)), left)
    assert (key_bytes(left) == key_bytes(right)) == same(left, right)


_PROGRAM = """
import sys
from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec, fingerprint
from tests.conformance.samples import TYPES, Colour, Order
value = {"set": {"a", "b", "c", "d", 1, (2, "x")}, "frozen": frozenset(map(str, range(20))),
         "order": Order(1, "n", ({"z", "y", "x"},)), "colour": {Colour.RED, Colour.BLUE}, "other": {object, len}}
codec = ValueCodec(TypeRegistry(TYPES), allow_pickle=False)
print(fingerprint((value,), {"b": 1, "a": value}).hex(), codec.encode({k: v for k, v in value.items() if k != "other"}).hex())
"""


def test_fingerprints_do_not_depend_on_the_process() -> None:
    """Processes with different hash seeds agree on fingerprints, and on the bytes of sets [E3.3]."""
    outputs = {
        subprocess.run(  # noqa: S603 - this interpreter with the program above
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(_ROOT)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }

    assert len(outputs) == 1
    assert len(outputs.pop()) > 32
