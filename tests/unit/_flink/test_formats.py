"""Formats: what an input becomes, and what an output may be."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from flink_agents_subagent import DefinitionError, NotExpressibleError, Record
from flink_agents_subagent._flink.formats import decoder, encoder
from flink_agents_subagent._plan.by_value import types_of

_ROOT = Path(__file__).parents[3]


@dataclasses.dataclass
class Order:
    """What the sender knows."""

    item: str
    count: int


class Replacement(Order):
    """What the agent was sent with, under the same name."""


class Quote(BaseModel):
    """A model that can be imported."""

    price: float


def local_type() -> Any:
    """Return a class that cannot be imported."""

    @dataclasses.dataclass
    class Local:
        number: int = 1

        def doubled(self) -> int:
            return 2 * self.number

    return Local


@pytest.mark.parametrize("value", [None, 1, "é", b"\x00", [1, {"a": (2,)}], Quote(price=1)])
def test_pickled_objects_are_unpickled(value: Any) -> None:
    """An input of a pickled stream is the object that was put in [P7]."""
    assert decoder("pickle", {})(pickle.dumps(value, 3)) == value


def test_strings_and_bytes_arrive_as_they_are() -> None:
    """A Java string is `str`, bytes are `bytes` [P7]."""
    assert decoder("string", {})("é𝄞".encode()) == "é𝄞"
    assert decoder("bytes", {})(b"\x00\xff") == b"\x00\xff"


def test_script_types_are_found_by_name() -> None:
    """A name of `__main__` is looked up among the types that came by value, whatever `__main__` is here [P9]."""
    by_reference = b"\x80\x03c__main__\nOrder\nK\x05\x85R."

    assert decoder("pickle", {"__main__:Order": int})(by_reference) == 5


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_script_types_are_found_in_every_protocol(protocol: int) -> None:
    """However a pickle names a class, deep inside plain data too, the agent's own class is found [P9]."""
    sent = pickle.dumps({"plain": [1, "text", {"deep": Order("book", 3)}]}, protocol)
    assert __name__.encode() in sent

    read = decoder("pickle", {f"{__name__}:Order": Replacement})(sent)

    assert isinstance(read["plain"][2]["deep"], Replacement)


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("__main__", "an input holds a __main__.Nothing, .* define it at the top level of the job script"),
        ("no_such_module", "an input holds a no_such_module.Nothing, .* ship it with python.files"),
        ("json", "an input holds a json.Nothing"),
    ],
)
def test_an_unknown_class_is_named_with_the_remedy(module: str, says: str) -> None:
    """A class that did not come along says what to do [P2, P9]."""
    with pytest.raises(DefinitionError, match=says):
        decoder("pickle", {})(f"\x80\x03c{module}\nNothing\n.".encode("latin-1"))


@pytest.mark.parametrize("kind", ["(RowKind, (kind.value,))", "(getattr, (RowKind, kind.name))"])
@pytest.mark.parametrize("names", [["user", "n"], None])
def test_rows_become_records(names: list[str] | None, kind: str) -> None:
    """A pickled PyFlink row is taken apart without importing PyFlink, in either way that Python pickles enums [P7, E3.3]."""
    code = (
        "import pickle, sys\n"
        "from pyflink.common import Row, RowKind\n"
        f"RowKind.__reduce_ex__ = lambda kind, protocol: {kind}\n"
        f"row = Row('ann', 1); names = {names!r}\n"
        "row.set_field_names(names) if names else None\n"
        "sys.stdout.buffer.write(pickle.dumps([row], 3))"
    )
    pickled = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout  # noqa: S603 - our own code

    assert decoder("pickle", {})(pickled) == [Record(names and tuple(names), ("ann", 1))]


@pytest.mark.parametrize("value", [None, 1, "x", [Quote(price=1)], {"a": datetime(2024, 1, 1, tzinfo=timezone.utc)}])
def test_outputs_are_pickled(value: Any) -> None:
    """Any object leaves a pickled stream as itself [P8]."""
    assert pickle.loads(encoder("pickle", {})(value)) == value


def test_an_output_of_a_local_type_is_the_readers_own_type_where_it_has_one() -> None:
    """The submitting process gets its own class back, so that `isinstance` holds [P8, P9]."""
    cls = local_type()
    name = f"{cls.__module__}:{cls.__qualname__}"
    cls.__qualname__ = "Local"
    setattr(sys.modules[__name__], "Local", cls)  # noqa: B010 - mypy would look for the attribute
    types = {name.partition(":")[0] + ":Local": cls}

    pickled = encoder("pickle", types)([cls(3)])

    assert type(pickle.loads(pickled)[0]) is cls
    assert pickle.loads(pickled) == [cls(3)]


def test_an_output_of_a_script_type_can_be_read_elsewhere(tmp_path: Path) -> None:
    """A process that does not know the script gets the class along with the value [P8, P9]."""
    cls = local_type()
    types = types_of([cls])
    file = tmp_path / "output"
    file.write_bytes(encoder("pickle", types)({"a": cls(4)}))
    code = f"import pickle; print(pickle.load(open({str(file)!r}, 'rb'))['a'].doubled())"

    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(_ROOT)}
    )

    assert done.stdout == "8\n"


def test_an_output_that_cannot_be_pickled_is_named() -> None:
    """Live objects do not leave the operator [P8]."""
    with pytest.raises(
        NotExpressibleError, match=r"an output of type dict cannot be pickled: .*emit data, not live objects"
    ):
        encoder("pickle", {})({"a": (i for i in range(3))})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True]}, '{"b":1,"a":[null,true]}'),
        (Quote(price=1.5), '{"price":1.5}'),
        (Record(("user", "n"), ("ann", 1)), '{"user":"ann","n":1}'),
        ("NaN", '"NaN"'),
        (datetime(2024, 1, 1, tzinfo=timezone.utc), '"2024-01-01T00:00:00Z"'),
        ("é", '"é"'),
    ],
)
def test_json_outputs(value: Any, text: str) -> None:
    """Plain values, models and dataclasses are JSON text in UTF-8 [P8]."""
    assert encoder("json", {})(value).decode() == text


@pytest.mark.parametrize("value", [float("nan"), [float("-inf")], object(), {"a": [object()]}])
def test_what_json_lacks_is_refused(value: Any) -> None:
    """Nothing is written that a JSON reader would refuse [P8]."""
    with pytest.raises(NotExpressibleError, match="cannot be written as JSON"):
        encoder("json", {})(value)


def test_string_and_bytes_outputs() -> None:
    """A stream of strings takes text, a stream of bytes takes bytes [P8]."""
    assert encoder("string", {})("é") == "é".encode()
    assert encoder("bytes", {})(bytearray(b"\x00")) == b"\x00"


@pytest.mark.parametrize(
    ("output_format", "value", "says"),
    [
        ("string", 3, "an output is a int, but a stream of strings takes str"),
        ("string", "\udc80", "has no UTF-8 form"),
        ("bytes", "x", "an output is a str, but a stream of bytes takes bytes"),
    ],
)
def test_another_type_is_refused(output_format: str, value: Any, says: str) -> None:
    """A value that the stream's type cannot hold is not converted silently [P8]."""
    with pytest.raises(NotExpressibleError, match=says):
        encoder(output_format, {})(value)


def test_unknown_formats_are_refused() -> None:
    """The message lists what there is [P6]."""
    with pytest.raises(DefinitionError, match="no input format 'avro'; there are pickle, string, bytes, java"):
        decoder("avro", {})
    with pytest.raises(DefinitionError, match="no output format 'avro'; there are pickle, string, json, bytes"):
        encoder("avro", {})
