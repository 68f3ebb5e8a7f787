from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from flink_agents_subagent._engine.encoding import TypeRegistry, ValueCodec
from flink_agents_subagent.errors import DurableCallError, DurableTimeoutError, EncodingError, NotExpressibleError

_DENY = ValueCodec(TypeRegistry({}), allow_pickle=False)
_ALLOW = ValueCodec(TypeRegistry({}), allow_pickle=True)


class ComputedError(Exception):
    """Computes its message and has keyword-only arguments."""

    def __init__(self, code: int, *, hint: str) -> None:
        super().__init__(f"code {code}: {hint}")
        self.code = code
        self.hint = hint


class DiskError(OSError):
    """Extends an exception that keeps data in C, with another constructor."""

    def __init__(self, path: str) -> None:
        super().__init__(28, "disk full", path)
        self.path = path


@dataclass
class FieldError(Exception):
    """An exception that is a dataclass."""

    code: int


class ResponseError(Exception):
    """Holds something that has no encoding."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.response = threading.Lock()


class PickyError(Exception):
    """Refuses to be made in any other way."""

    def __new__(cls, *args: Any, token: object = None) -> Any:
        """Demand a token."""
        if token is None:
            raise TypeError("no token")
        return super().__new__(cls, *args)

    def __init__(self, *args: Any, token: object = None) -> None:
        super().__init__(*args)


class MuteError(Exception):
    """Cannot say what happened."""

    def __str__(self) -> str:
        raise RuntimeError("mute")


def _through(error: BaseException, codec: ValueCodec = _DENY) -> Any:
    return codec.decode_error(codec.encode_error(error))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ValueError(), id="empty"),
        pytest.param(ValueError("a", (1, b"x")), id="nested-arguments"),
        pytest.param(KeyError("k"), id="key"),
        pytest.param(ComputedError(3, hint="retry"), id="computed"),
        pytest.param(DiskError("/x"), id="extended-os-error"),
        pytest.param(ConnectionResetError(104, "reset"), id="connection"),
        pytest.param(FieldError(4), id="dataclass"),
        pytest.param(UnicodeEncodeError("ascii", "é", 0, 1, "no"), id="unicode"),
        pytest.param(ImportError("x", name="n", path="p"), id="import"),
        pytest.param(StopIteration(3), id="stop-iteration"),
        pytest.param(SyntaxError("bad", ("f.py", 1, 2, "text")), id="syntax"),
        pytest.param(json.JSONDecodeError("bad", "doc", 1), id="json"),
        pytest.param(TimeoutError("late"), id="timeout"),
        pytest.param(NotExpressibleError("bad", "$.a"), id="ours-with-attribute"),
        pytest.param(DurableTimeoutError("late"), id="ours"),
        pytest.param(DurableCallError("a.B", "text"), id="stand-in"),
    ],
)
def test_an_exception_comes_back_as_itself(error: BaseException) -> None:
    """Class, arguments, message and attributes are those of the first run [E3.5]."""
    rebuilt = _through(error)

    assert type(rebuilt) is type(error)
    assert repr(rebuilt) == repr(error)
    assert str(rebuilt) == str(error)
    assert vars(rebuilt) == vars(error)
    assert getattr(rebuilt, "filename", None) == getattr(error, "filename", None)
    assert getattr(rebuilt, "errno", None) == getattr(error, "errno", None)
    assert getattr(rebuilt, "name", None) == getattr(error, "name", None)


@pytest.mark.parametrize(
    ("error", "type_name", "message"),
    [
        pytest.param(ResponseError("503"), f"{__name__}.ResponseError", "503", id="attribute"),
        pytest.param(ValueError(threading.Lock), "ValueError", str(threading.Lock), id="argument"),
        pytest.param(PickyError("p", token=1), f"{__name__}.PickyError", "p", id="constructor"),
        pytest.param(
            type("GoneError", (Exception,), {})("g"), f"{__name__}.GoneError", "g", id="class-without-a-place"
        ),
    ],
)
def test_an_exception_that_cannot_be_rebuilt_keeps_its_name(error: Exception, type_name: str, message: str) -> None:
    """The stand-in carries the original type name and message [E3.5]."""
    rebuilt = _through(error)

    assert type(rebuilt) is DurableCallError
    assert (rebuilt.type_name, rebuilt.message) == (type_name, message)
    assert type(_through(rebuilt)) is DurableCallError


def test_an_exception_without_a_text_is_recorded() -> None:
    """A failing `__str__` does not hide the failure that it belongs to [E3.5]."""
    rebuilt = _through(MuteError("a"))

    assert type(rebuilt) is MuteError
    assert rebuilt.args == ("a",)


def test_pickle_keeps_an_exception_when_allowed() -> None:
    """With `journal.pickle: allow` an attribute that only pickle knows comes back [E3.5]."""
    error = ComputedError(1, hint="h")
    error.extra = range(3)  # type: ignore[attr-defined]

    assert type(_through(error)) is DurableCallError
    assert _through(error, _ALLOW).extra == range(3)


def test_notes_and_exceptions_inside_come_back() -> None:
    """An exception that is an argument of another is rebuilt too [E3.5]."""
    inner = ComputedError(1, hint="h")
    rebuilt = _through(RuntimeError("outer", inner))

    assert type(rebuilt.args[1]) is ComputedError
    assert rebuilt.args[1].code == 1


def test_a_value_is_no_exception() -> None:
    """A record whose value is not an exception is not raised [E3.5]."""
    with pytest.raises(EncodingError, match="an exception was expected"):
        _DENY.decode_error(_DENY.encode("text"))
