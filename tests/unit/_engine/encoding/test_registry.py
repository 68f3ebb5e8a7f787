from __future__ import annotations

import dataclasses
import subprocess
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec, pack_frames
from flink_agents_subagent.context import Outcome
from flink_agents_subagent.errors import EncodingError


def _codec(**types: type[Any]) -> ValueCodec:
    return ValueCodec(TypeRegistry({f"job:{name}": cls for name, cls in types.items()}), allow_pickle=False)


def _shipped(cls: type[Any], name: str) -> type[Any]:
    """Give a class the name that it has in a job."""
    cls.__module__, cls.__qualname__ = "job", name
    return cls


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("subprocess:Popen", id="class-that-acts"),
        pytest.param("os:system", id="function"),
        pytest.param("builtins:dict", id="built-in-class"),
        pytest.param("flink_agents_subagent.context:Outcome.unwrap", id="method"),
        pytest.param("no_such_module:A", id="missing-module"),
        pytest.param("json:Missing", id="missing-name"),
        pytest.param("json", id="no-name"),
        pytest.param(":a", id="no-module"),
        pytest.param("..:a", id="relative"),
    ],
)
def test_a_recorded_name_never_reaches_code(name: str) -> None:
    """A name resolves to a data class or to an error; nothing else is returned or called [E3.5]."""
    with pytest.raises(EncodingError):
        TypeRegistry({}).resolve(name)

    record = pack_frames(f'{{"$dc":["{name}",{{"args":1}}]}}'.encode(), [])
    with pytest.raises(EncodingError):
        _codec().decode(record)


def test_a_name_of_another_kind_is_an_error() -> None:
    """An exception class is not built as a dataclass [E3.5]."""
    record = pack_frames(b'{"$dc":["subprocess:CalledProcessError",{}]}', [])

    with pytest.raises(EncodingError, match="recorded as a dataclass and is a exception"):
        _codec().decode(record)
    assert subprocess.CalledProcessError is TypeRegistry({}).resolve("subprocess:CalledProcessError")


def test_an_importable_class_needs_no_registration() -> None:
    """A dataclass of a module is found by import [E3.5]."""
    codec = _codec()

    assert codec.decode(codec.encode(Outcome(value=(1,)))) == Outcome(value=(1,))


def test_a_type_shipped_by_value_wins_over_an_import() -> None:
    """The plan's class is used even if the name could be imported [E3.5]."""

    @dataclass
    class Twin:
        value: int

    registry = TypeRegistry({"flink_agents_subagent.context:Outcome": Twin})

    assert registry.resolve("flink_agents_subagent.context:Outcome") is Twin


@dataclass
class _OldOrder:
    number: int


@dataclass
class _NewOrder:
    number: int
    note: str = "none"
    lines: list[int] = field(default_factory=list)


@dataclass
class _StrictOrder:
    number: int
    note: str


class _OldQuote(BaseModel):
    price: float


class _NewQuote(BaseModel):
    price: float
    tags: list[str] = []


class _OldPoint(NamedTuple):
    x: int


class _NewPoint(NamedTuple):
    x: int
    y: int = 0


def _decode_as(value: object, cls: type[Any]) -> Any:
    encoded = _codec(T=_shipped(type(value), "T")).encode(value)
    return _codec(T=_shipped(cls, "T")).decode(encoded)


def test_a_new_field_takes_its_default() -> None:
    """A dataclass or model that gained fields with defaults reads what was recorded before [E4.8]."""
    order = _decode_as(_OldOrder(1), _NewOrder)
    quote = _decode_as(_OldQuote(price=1), _NewQuote)

    assert order == _NewOrder(1, "none", [])
    assert quote == _NewQuote(price=1)
    assert quote.model_fields_set == {"price"}


@pytest.mark.parametrize(
    ("value", "cls", "message"),
    [
        pytest.param(_OldOrder(1), _StrictOrder, r"without the fields \['note'\]; give them defaults", id="new-field"),
        pytest.param(_NewOrder(1), _OldOrder, r"with the fields \['lines', 'note'\]", id="removed-field"),
        pytest.param(_OldPoint(1), _NewPoint, "1 fields and has 2 now", id="namedtuple"),
    ],
)
def test_an_incompatible_class_is_an_error(value: object, cls: type[Any], message: str) -> None:
    """A change that cannot be bridged is named instead of giving half a value [E4.8]."""
    with pytest.raises(EncodingError, match=message):
        _decode_as(value, cls)


def test_a_rebuilt_dataclass_does_not_run_its_constructor() -> None:
    """`__post_init__` ran when the value was made and does not run again; fields outside the constructor come back [E3.5]."""
    runs: list[int] = []

    @dataclass(frozen=True, slots=True)
    class Checked:
        number: int
        double: int = field(init=False)

        def __post_init__(self) -> None:
            runs.append(self.number)
            object.__setattr__(self, "double", 2 * self.number)

    value = _shipped(Checked, "Checked")(3)
    codec = _codec(Checked=Checked)

    assert dataclasses.astuple(codec.decode(codec.encode(value))) == (3, 6)
    assert runs == [3]
