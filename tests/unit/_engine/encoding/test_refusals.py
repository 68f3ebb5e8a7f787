from __future__ import annotations

import datetime as dt
import threading
from typing import Any

import pytest

from flink_agents_subagent._engine.encoding import (
    TypeRegistry,
    ValueCodec,
    canonical,
    fingerprint,
    input_fingerprint,
    key_bytes,
    key_value,
    pack_frames,
)
from flink_agents_subagent._engine.encoding.kinds import MAX_DEPTH
from flink_agents_subagent.errors import EncodingError, NotExpressibleError
from tests.conformance.samples import TYPES, Order, Quote

_DENY = ValueCodec(TypeRegistry(TYPES), allow_pickle=False)
_ALLOW = ValueCodec(TypeRegistry(TYPES), allow_pickle=True)


class Handle:
    """A class that no encoding knows."""


class Text(str):
    """A subclass of a known type: it would come back as its base."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param(Handle(), "$", id="root"),
        pytest.param({"a": [1, (Handle(),)]}, "$.a[1][0]", id="nested"),
        pytest.param({("k", 1): Handle()}, "$[('k', 1)]", id="dict-key-of-another-type"),
        pytest.param({"with space": Handle()}, "$['with space']", id="key-with-space"),
        pytest.param({Handle: 1}, "$[<class '", id="key-itself"),
        pytest.param(Order(1, "", (Handle(),)), "$.lines[0]", id="dataclass"),
        pytest.param(Quote(price=1, extra=Handle()), "$.extra", id="model"),
        pytest.param([Text("a")], "$[0]", id="subclass"),
        pytest.param([bytearray(b"a")], "$[0]", id="bytearray"),
        pytest.param([1j], "$[0]", id="complex"),
    ],
)
def test_an_unknown_type_is_refused_with_its_path(value: Any, path: str) -> None:
    """Journal and memory values, and inputs, name the part that they refuse [E3.5, E4.4, E6.1]."""
    with pytest.raises(NotExpressibleError) as kept:
        _DENY.express(value)
    with pytest.raises(EncodingError) as recorded:
        _DENY.encode(value)
    with pytest.raises(NotExpressibleError) as strict:
        canonical(value, strict=True)
    with pytest.raises(EncodingError, match="cannot be identified"):
        input_fingerprint(value)

    assert kept.value.path.startswith(path)
    assert strict.value.path.startswith(path)
    assert path in str(recorded.value)
    assert "journal.pickle: allow" in str(recorded.value)


def test_an_unknown_argument_counts_by_its_type() -> None:
    """In a call's fingerprint another type contributes its name, wherever it stands [E3.3]."""
    first = fingerprint((1, [Handle()]), {"lock": threading.Lock()})

    assert first == fingerprint((1, [Handle()]), {"lock": threading.Lock()})
    assert first != fingerprint((1, [object()]), {"lock": threading.Lock()})


def _cyclic() -> Any:
    value: dict[str, Any] = {}
    value["self"] = [1, (value,)]
    return value


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("encode", [_DENY.express, _ALLOW.express, canonical])
def test_a_value_that_contains_itself_is_refused(encode: Any) -> None:
    """A cycle is found, with the path to the part that closes it [E3.3, E3.5]."""
    with pytest.raises(NotExpressibleError, match="contains itself") as caught:
        encode(_cyclic())

    assert caught.value.path == "$.self[1][0]"


@pytest.mark.parametrize("encode", [_DENY.express, canonical])
def test_nesting_has_a_limit(encode: Any) -> None:
    """The deepest nesting passes, one container more is refused in words, however deep it goes on [E3.3, E3.5]."""
    encode(_nested(MAX_DEPTH))
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(NotExpressibleError, match=f"deeper than {MAX_DEPTH}"):
            encode(_nested(depth))


def test_the_same_part_twice_is_no_cycle() -> None:
    """A container that is referred to twice is encoded twice [E3.5]."""
    shared = [(1,)]

    assert _DENY.decode(_DENY.encode([shared, shared])) == [shared, shared]


def test_a_time_zone_that_cannot_be_rebuilt_is_refused() -> None:
    """A zone of another library is named [E3.5]."""

    class Zone(dt.tzinfo):
        def utcoffset(self, _: Any) -> dt.timedelta:
            return dt.timedelta(0)

    with pytest.raises(NotExpressibleError, match="Zone"):
        _DENY.express([dt.datetime(2024, 1, 1, tzinfo=Zone())])


def test_a_local_class_is_refused() -> None:
    """A class that a later process could not import is refused before it is recorded [E3.5]."""
    from dataclasses import dataclass  # noqa: PLC0415 - the class below is what matters

    @dataclass
    class Local:
        x: int

    with pytest.raises(EncodingError, match=r"<locals>\.Local"):
        _DENY.encode(Local(1))


def test_pickle_takes_what_is_unknown_when_allowed() -> None:
    """With `journal.pickle: allow` only the unknown part is pickled, and comes back [E3.5]."""
    value = {"plain": (1,), "set": range(3)}

    assert _ALLOW.decode(_ALLOW.encode(value)) == value
    assert b"$tuple" in _ALLOW.encode(value)


def test_pickle_is_refused_in_a_record_when_denied() -> None:
    """A pickled part in the store is not read under `deny`, whoever wrote it [E3.5]."""
    with pytest.raises(EncodingError, match=r"journal\.pickle"):
        _DENY.decode(_ALLOW.encode(range(3)))


def test_a_value_that_cannot_be_pickled_is_refused_with_its_path() -> None:
    """The reason of the pickler is part of the message [E3.5]."""
    with pytest.raises(EncodingError, match=r"cannot be pickled .* at \$\[0\]"):
        _ALLOW.encode([threading.Lock()])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\0\0", id="short"),
        pytest.param(b"\0\0\0\x09[1]", id="too-long"),
        pytest.param(b"\0\0\0\x03[1]\0\0", id="rest"),
        pytest.param(b"\0\0\0\x02[1", id="not-json"),
        *[
            pytest.param(pack_frames(text, []), id=text.decode()[:20])
            for text in (
                b'{"$bytes":3}',
                b'{"$future":1}',
                b'{"$date":"x"}',
                b'{"$decimal":"x"}',
                b'{"$timedelta":[9999999999,0,0]}',
                b'{"$set":[[]]}',
                b'{"$dc":1}',
                b'{"$record":[1,2]}',
                b'{"$nt":[]}',
                b'{"$int":"xyz"}',
                b'{"$ndarray":["<i4",[3],0]}',
                b"[" * 100_000,
            )
        ],
    ],
)
def test_damaged_bytes_are_an_error(data: bytes) -> None:
    """Whatever cannot be read is an error of the engine, never a value [E3.5]."""
    with pytest.raises(EncodingError, match="recorded value"):
        _DENY.decode(data)


@pytest.mark.parametrize("key", [None, 1.5, ["a"], ("a", None), Text("a")])
def test_a_key_of_another_type_is_refused(key: object) -> None:
    """The message names the type and what a key selector may return [S1.7]."""
    with pytest.raises(NotExpressibleError, match="let the key selector return str, int, bytes, bool or a tuple"):
        key_bytes(key)


@pytest.mark.parametrize("data", [b"", b"x", b"?2", b"t\0\0\0\x05sa", b"t\0\0"])
def test_bytes_of_no_key_are_an_error(data: bytes) -> None:
    """Damaged key bytes do not become a key [S1.7]."""
    with pytest.raises(ValueError, match="key"):
        key_value(data)
