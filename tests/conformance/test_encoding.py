"""The golden vectors of encodings: what is written today must be read, and be the same, for good."""

from __future__ import annotations

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
from tests.conformance.samples import TYPES
from tests.conformance.vectors import vectors

_CODEC = ValueCodec(TypeRegistry(TYPES), allow_pickle=False)


def _data(given: dict[str, Any]) -> bytes:
    return pack_frames(given["json"].encode(), [bytes.fromhex(frame) for frame in given["frames"]])


def _type_of(value: object) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"


@pytest.mark.parametrize(("given", "expected"), vectors("values"))
def test_a_recorded_value_comes_back_as_its_type(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Bytes that a release wrote give the value and type that they were written for [E3.5]."""
    value = _CODEC.decode(_data(given))

    assert _type_of(value) == expected["type"]
    assert expected.get("repr", repr(value)) == repr(value)


@pytest.mark.parametrize(("given", "expected"), vectors("values"))
def test_a_value_is_written_in_the_pinned_form(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Writing what was read gives the same bytes [E3.5]."""
    value = _CODEC.decode(_data(given))

    assert _CODEC.encode(value) == _data(given)


@pytest.mark.parametrize(("given", "expected"), vectors("errors"))
def test_a_recorded_exception_comes_back(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """A recorded exception gives its class and text, or a stand-in that names both [E3.5]."""
    error = _CODEC.decode_error(_data(given))

    assert _type_of(error) == expected["type"]
    assert str(error) == expected["text"]


@pytest.mark.parametrize(("given", "expected"), vectors("canonical"))
def test_a_fingerprint_never_changes(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Canonical bytes and both fingerprints are those of every release [E3.3, E4.4]."""
    value = _CODEC.decode(_data(given))

    assert canonical(value).hex() == expected["canonical"]
    assert fingerprint((value,), {"k": value}).hex() == expected["fingerprint"]
    assert input_fingerprint(value).hex() == expected["input_fingerprint"]


def test_different_values_have_different_encodings() -> None:
    """No two vectors share canonical bytes but those that are equal in value and type [E3.3]."""
    cases = [(case.values[0], case.values[1]["canonical"], case.id) for case in vectors("canonical")]
    by_bytes: dict[str, list[str]] = {}
    for _, encoded, name in cases:
        by_bytes.setdefault(encoded, []).append(name)

    shared = [names for names in by_bytes.values() if len(names) > 1]

    # The dict in another order, and the dataclass that differs in a field that does not count.
    assert shared == [["CANON-28", "CANON-68"], ["CANON-52", "CANON-70"]]


def _key(given: object) -> object:
    match given:
        case {"tuple": [*parts]}:
            return tuple(_key(part) for part in parts)
        case {"bytes": str(text)}:
            return bytes.fromhex(text)
        case {"int": str(digits)}:
            return int(digits)
        case _:
            return given


@pytest.mark.parametrize(("given", "expected"), vectors("keys"))
def test_a_key_has_its_pinned_bytes(given: object, expected: dict[str, Any]) -> None:
    """A key becomes the pinned bytes, and these become the key with its type [S1.7]."""
    key = _key(given)

    encoded = key_bytes(key)

    assert encoded.hex() == expected["bytes"]
    assert repr(key_value(encoded)) == repr(key)


def _java_hash(text: str) -> int:
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code


def _rotate(code: int, distance: int) -> int:
    return (code << distance | code >> (32 - distance)) & 0xFFFFFFFF


def _murmur(code: int) -> int:
    """Flink's `MathUtils.murmurHash`, from the description of murmur3 with one block."""
    code = _rotate(code * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
    code = (_rotate(code, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF ^ 4
    code = (code ^ code >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    code = (code ^ code >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    code ^= code >> 16
    signed = code - 2**32 if code >= 2**31 else code
    return 0 if signed == -(2**31) else abs(signed)


@pytest.mark.parametrize(("given", "expected"), vectors("keys"))
def test_a_key_belongs_to_its_pinned_key_group(given: object, expected: dict[str, Any]) -> None:
    """The key group is Flink's for the Java string that keeps one byte in each character [E4.7, S1.7]."""
    text = bytes.fromhex(expected["bytes"]).decode("iso-8859-1")

    groups = {str(limit): _murmur(_java_hash(text)) % limit for limit in (128, 32768)}

    assert groups == expected["key_groups"]
