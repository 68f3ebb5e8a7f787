"""Reading YAML: values, places, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flink_agents_subagent._descriptor.document import MAX_BYTES, MAX_DEPTH, MAX_VALUES, read_document
from flink_agents_subagent._descriptor.problem import Problems


def read(text: str | bytes) -> Any:
    """Return the value of a text without problems."""
    problems = Problems("f")
    root = read_document(text if isinstance(text, bytes) else text.encode("utf-8"), problems)
    assert (problems.in_order(), root is not None) == ((), True)
    return root.plain() if root else None


def refused(text: str | bytes) -> list[str]:
    """Return the problems of a text."""
    problems = Problems("f")
    read_document(text if isinstance(text, bytes) else text.encode("utf-8"), problems)
    return [str(problem) for problem in problems.in_order()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("-3", -3),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("-.inf", -math.inf),
        ("true", True),
        ("False", False),
        ("~", None),
        ("''", ""),
        ("'5'", "5"),
        ("|\n  a\n  b", "a\nb"),
        ("[1, [two]]", [1, ["two"]]),
    ],
)
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    """A plain scalar is what YAML 1.2 says, whatever older versions made of it; quotes make a text [R1]."""
    assert read(f"a: {text}") == {"a": value}


def test_nan_is_a_number() -> None:
    """The one value that does not equal itself is read too."""
    assert math.isnan(read("a: .nan")["a"])


def test_a_byte_order_mark_is_no_part_of_the_file() -> None:
    """What some editors write in front is left out."""
    assert read(b"\xef\xbb\xbfa: 1") == {"a": 1}
    assert refused(b"\xef\xbb\xbfa: *x") == ["f:1:4: the alias *x has no anchor &x before it"]


def test_an_alias_is_a_copy() -> None:
    """What two places share in the file is two values, of which one may change."""
    value = read("a: &x {n: [1]}\nb: *x")
    value["a"]["n"].append(2)

    assert value["b"] == {"n": [1]}


def test_an_anchor_may_be_used_again() -> None:
    """An alias means the last anchor before it."""
    assert read("a: &x 1\nb: *x\nc: &x 2\nd: *x") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_merge_keys_give_what_is_not_there() -> None:
    """Keys of the mapping itself win over merged ones, earlier merged ones over later ones."""
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], a: 3}\nq: {'<<': 4}"

    assert read(text)["z"] == {"a": 3, "b": 1, "c": 2}
    assert read(text)["q"] == {"<<": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f:1:1: the file is empty; it needs 'agents'"),
        ("# nothing", "f:1:1: the file is empty; it needs 'agents'"),
        ("a: 1\n---\nb: 2", "f:2:1: a file holds one document; list all agents under 'agents'"),
        ("%YAML 1.1\n---\na: on", "f:1:1: the file is read as YAML 1.2; leave out the %YAML directive"),
        ("a: [1\nb: 2", "f:2:2: this is no YAML: expected ',' or ']', but got ':' while parsing a flow sequence"),
        ("a: b: c", "f:1:5: this is no YAML: mapping values are not allowed here"),
        ("a:\n\t- 1", "f:2:1: this is no YAML: found character '\\t' that cannot start any token while scanning for"),
        ("a: 1\nb: x\x01", "f:2:5: the character U+0001 cannot stand in YAML; write it as \\u0001 in double quotes"),
        (b"a: 1\nb: \xc3\xa4\xff", "f:2:5: the byte 0xff is no UTF-8; save the file as UTF-8"),
        ('a: 1\nb: "\\Uffffffff"', "f:2:2: behind this, an escape in double quotes is no character: "),
        ('a: "\\U00110000"', "f:1:2: behind this, an escape in double quotes is no character: "),
        ('a: "\\ud83d"', "f:1:4: a text holds half of a surrogate pair; write the character itself"),
        ("a: !!python/object:os.system {}", "f:1:4: the tag tag:yaml.org,2002:python/object:os.system makes nothing"),
        ("a: !secret x", "f:1:4: the tag !secret makes nothing here; write the value without it, a text in quotes"),
        ("a: 1\nb: 2\n'a': 3", "f:3:1: the key 'a' is there twice, first in line 1; leave one of them out"),
        ("5: x", "f:1:1: the key 5 is no text; put it in quotes"),
        ("on: 1\n? [a, b]\n: 2", "f:2:3: the key that is a mapping or a list is no text; put it in quotes"),
        ("a: *x", "f:1:4: the alias *x has no anchor &x before it"),
        ("a: &x [*x]", "f:1:8: the alias *x has no anchor &x before it"),
        ("a: {<<: 5}", "f:1:9: '<<' takes a mapping or a list of mappings, as in '<<: *defaults'"),
        (f"a: {'9' * 5000}", "f:1:4: a number has at most 1000 digits; put a text in quotes"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str | bytes, message: str) -> None:
    """Line and column count from 1, and the remedy is in the message [R2]."""
    (problem,) = refused(text)

    assert problem.startswith(message)


def test_reading_goes_on_behind_a_problem() -> None:
    """Several keys that are there twice come at once, in the order of the file [R2]."""
    assert [problem[:6] for problem in refused("a: {b: 1, b: 2}\na: !x 3\n7: 4")] == [
        "f:1:11",
        "f:2:1:",
        "f:2:4:",
        "f:3:1:",
    ]


def bomb(levels: int, width: int = 10) -> str:
    """Return a text in which each level has the one before it several times."""
    lines = ["l0: &l0 [x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.timeout(10)
def test_aliases_cannot_blow_up() -> None:
    """A short file that stands for a billion values is refused at the alias that goes too far [R2]."""
    (problem,) = refused(bomb(10))

    assert f"the file holds more than {MAX_VALUES} values, those of aliases counted" in problem
    assert problem.startswith("f:5:")


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="flow"),
        pytest.param("- " * 100_000, id="block"),
        pytest.param(
            "\n".join(f"l{n}: &l{n} {'[' * 10}{f'*l{n - 1}' if n else 1}{']' * 10}" for n in range(200)), id="aliases"
        ),
    ],
)
def test_depth_is_bounded(text: str) -> None:
    """Nesting beyond the bound is refused before it exhausts the stack, that by aliases too [R2]."""
    assert f"values are nested more than {MAX_DEPTH} deep, aliases included" in refused(text)[-1]


def test_size_is_bounded() -> None:
    """A file that is too large is not even parsed [R2]."""
    assert refused(b"#" * (MAX_BYTES + 1)) == [
        f"f:1:1: the file has {MAX_BYTES + 1} bytes; {MAX_BYTES} are allowed, so split it"
    ]


def test_places_are_those_of_keys_and_values() -> None:
    """A path leads to a value, or to the last thing on the way; a key has a place of its own."""
    root = read_document(b"a:\n  - b: 1\n    ccc: [x, yy]\n", Problems("f"))
    assert root is not None

    assert root.at("a", 0, "ccc", 1) == (3, 14)
    assert root.key_at("a", 0, "ccc") == (3, 5)
    assert root.at("a", 0, "d", "e") == (2, 5)
    assert root.at("a", 7) == (2, 3)


@given(
    st.binary(max_size=200)
    | st.text("ab:-?[]{},#&*!|>'\"% \t\n0.~<\\uUx9", max_size=60).map(lambda text: text.encode("utf-8"))
)
def test_no_file_stops_the_reader(data: bytes) -> None:
    """Any bytes give a tree or a problem, never an exception [R2]."""
    problems = Problems("f")
    root = read_document(data, problems)

    assert root is not None or len(problems) > 0
