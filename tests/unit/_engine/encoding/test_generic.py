"""Generic pydantic models keep their arguments, also in a process that has never made the class."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from pydantic import BaseModel

from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent.errors import EncodingError

T = TypeVar("T")
U = TypeVar("U")


class Item(BaseModel):
    """An argument."""

    name: str


class Page(BaseModel, Generic[T]):
    """One parameter."""

    content: list[T]


class Numbers(Page[list[int]]):
    """A name for an argument that has none."""


class Pair(BaseModel, Generic[T, U]):
    """Two."""

    left: T
    right: U


def codec(**types: type[Any]) -> ValueCodec:
    """Return a codec that knows some types by value."""
    return ValueCodec(TypeRegistry(types), allow_pickle=False)


@pytest.mark.parametrize(
    "value",
    [
        Page[Item](content=[Item(name="a")]),
        Page[int](content=[1]),
        Pair[Item, date](left=Item(name="a"), right=date(2026, 1, 2)),
        Page[Pair[str, Page[Item]]](content=[Pair[str, Page[Item]](left="x", right=Page[Item](content=[]))]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_generic_model_comes_back_with_its_arguments(value: BaseModel) -> None:
    """Value and type are the same, by the names of origin and arguments alone [E3.5, V3]."""
    found = codec().decode(codec().encode(value))

    assert found == value and type(found) is type(value)


def test_another_process_needs_only_origin_and_arguments(tmp_path: Path) -> None:
    """It has never written `Page[Item]` down [E3.5, V3]."""
    module = "from typing import Generic, TypeVar\nfrom pydantic import BaseModel\nT = TypeVar('T')\n"
    module += "class Item(BaseModel):\n    n: int\nclass Page(BaseModel, Generic[T]):\n    content: list[T]\n"
    (tmp_path / "pages.py").write_text(module, encoding="utf-8")
    head = "from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec\n"
    head += "codec = ValueCodec(TypeRegistry({}), allow_pickle=False)\n"

    def run(script: str) -> str:
        code = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{head}{script}"
        done = subprocess.run(  # noqa: S603 - this interpreter
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    written = run("import pages\nprint(codec.encode(pages.Page[pages.Item](content=[pages.Item(n=1)])).hex())")
    read = run(f"value = codec.decode(bytes.fromhex({written!r}))\nprint(type(value).__name__, value)")

    assert read == "Page[Item] content=[Item(n=1)]"


def test_an_argument_without_a_name_is_refused_with_the_remedy() -> None:
    """A subclass gives it one [E3.5, V3]."""
    named = Numbers(content=[[1]])

    assert codec().decode(codec().encode(named)) == named
    with pytest.raises(EncodingError, match=r"whose argument .*int.* has no name .*class Named\(Page\["):
        codec().encode(Page[list[int]](content=[[1]]))


def test_an_origin_that_takes_other_arguments_now_is_an_error() -> None:
    """The message says how many it takes [E3.5]."""
    name = f"{__name__}:Pair[builtins:int]"

    with pytest.raises(EncodingError, match="takes 2 type arguments now"):
        TypeRegistry({}).resolve(name)


@pytest.mark.parametrize(
    "name", ["subprocess:Popen[builtins:int]", "builtins:list[builtins:int]", "os:system[os:system]"]
)
def test_no_other_class_is_given_arguments(name: str) -> None:
    """A name never reaches code in this way either [E3.5]."""
    with pytest.raises(EncodingError):
        TypeRegistry({}).resolve(name)
