"""Journal records as bytes."""

from __future__ import annotations

import json

import pytest

from flink_agents_subagent._engine.record import JournalHead, Record, decode_record, encode_record, surviving
from flink_agents_subagent.errors import StoreCorruptError, UnknownVersionError

_FULL = Record(
    "o",
    execution=3,
    slot=12,
    time_ms=1_700_000_000_123,
    function_id='job:Tool."lookup"\n',
    fingerprint=bytes(range(16)),
    status="error",
    attempts=4,
    value=b"\x00payload",
    head=JournalHead(b"\xff" * 16, 1_700_000_000_000),
    markers=((3, "change"), (0, "ä\ud800")),
    discards_from=7,
)


def test_a_record_comes_back_as_it_was() -> None:
    """Every field survives, names with quotes and lone surrogates included [E3.4]."""
    decoded = decode_record(9, encode_record(_FULL), "here")

    expected = Record(
        **{name: getattr(_FULL, name) for name in Record.__slots__ if name not in ("number", "is_acknowledged")},
        number=9,
        is_acknowledged=True,
    )
    assert decoded == expected


def test_the_header_is_json_with_the_documented_keys() -> None:
    """The format is that of the decision record, with a version byte before it [E3.4]."""
    payload = encode_record(_FULL)
    length = int.from_bytes(payload[1:5], "big")

    header = json.loads(payload[5 : 5 + length])

    assert payload[0] == 1
    assert payload[5 + length :] == b"\x00payload"
    assert header["f"] == 'job:Tool."lookup"\n'
    assert list(header) == ["k", "e", "s", "t", "f", "p", "x", "n", "c", "m", "h"]


def test_the_bytes_of_addresses_are_pinned() -> None:
    """A number at the root, as ever; the path of an internal sub-agent call as a text [E3.4, N3]."""
    root, inside = (
        Record(
            "o",
            execution=address,
            slot=1,
            time_ms=5,
            function_id="f",
            status="ok",
            attempts=1,
            value=b"v",
            markers=marks,
        )
        for address, marks in ((2, ()), ("2.0/1.3/0", (("2.0/1.3/0", "change"),)))
    )

    rest = b'"s":1,"t":5,"f":"f","x":"ok","n":1'
    assert encode_record(root)[5:] == b'{"k":"o","e":2,' + rest + b"}v"
    assert encode_record(inside)[5:] == b'{"k":"o","e":"2.0/1.3/0",' + rest + b',"m":[["2.0/1.3/0","change"]]}v'
    assert decode_record(1, encode_record(inside), "here").execution == "2.0/1.3/0"


def test_a_record_adds_less_than_300_bytes_to_its_value() -> None:
    """The first record of a journal, with a long function name, stays below the bound [PF6]."""
    record = Record(
        "o",
        execution=1234,
        slot=5678,
        time_ms=1_700_000_000_123,
        function_id="company.department.project.module:Class.method_with_a_long_name",
        fingerprint=bytes(16),
        status="error",
        attempts=100,
        head=JournalHead(bytes(16), 1_700_000_000_123),
    )

    assert len(encode_record(record)) < 300


def test_a_record_of_a_later_release_is_refused_with_its_version() -> None:
    """A reader never guesses at a format [E3.4]."""
    payload = b"\x02" + encode_record(_FULL)[1:]

    with pytest.raises(UnknownVersionError, match=r"record 3 of run 1 has format version 2"):
        decode_record(3, payload, "record 3 of run 1")


@pytest.mark.parametrize(
    "payload", [b"", b"\x01", b"\x01\x00\x00\x00\x09{}", b"\x01\x00\x00\x00\x02{}", b"\x01\x00\x00\x00\x02[]"]
)
def test_a_damaged_record_is_refused_with_its_address(payload: bytes) -> None:
    """Torn or foreign bytes are no record, and the message says where they were [S1.4]."""
    with pytest.raises(StoreCorruptError, match="record 3 of run 1"):
        decode_record(3, payload, "record 3 of run 1")


def test_a_reset_discards_from_a_number_on() -> None:
    """Records before it and after it survive, also across two resets [E3.7]."""
    records = [Record("o", slot=number, number=number) for number in range(1, 6)]
    records.append(Record("r", discards_from=3, number=6))
    records.append(Record("o", number=7))
    records.append(Record("r", discards_from=2, number=8))
    records.append(Record("o", number=9))

    assert [record.number for record in surviving(records[:7])] == [1, 2, 6, 7]
    assert [record.number for record in surviving(records)] == [1, 8, 9]


def test_a_stub_keeps_what_delivery_needs() -> None:
    """A record that only a finished execution got loses its value, not its place in time [E4.2]."""
    stub = _FULL.stub()

    assert (stub.kind, stub.execution, stub.slot, stub.time_ms) == ("o", 3, 12, _FULL.time_ms)
    assert (stub.head, stub.markers) == (_FULL.head, _FULL.markers)
    assert (stub.value, stub.function_id) == (b"", "")
