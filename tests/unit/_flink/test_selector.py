"""Key selectors in the key operator."""

from __future__ import annotations

import json
import pickle
import threading
from typing import Any

import pytest

from flink_agents_subagent import DefinitionError, NotExpressibleError
from flink_agents_subagent._engine.encoding import key_value
from flink_agents_subagent._flink import selector as selector_module
from flink_agents_subagent._flink.blobs import pack_blobs
from flink_agents_subagent._flink.selector import dump_selector, load_selector, select_keys

LOCK = threading.Lock()


def select(selector: Any, value: Any, key_type: type[Any] | None = None) -> Any:
    """Send a selector and a value through the wire, and return the key."""
    return key_value(load_selector(dump_selector(selector, key_type, "pickle"))(pickle.dumps(value)))


@pytest.mark.parametrize("key", ["é/|_", "", 5, -(10**30), b"\x00\xff", True, ("a", (1, b"")), ()])
def test_keys_of_every_type_survive(key: Any) -> None:
    """Separators, empty and nested keys come back as they were [S1.7, P7]."""
    found = select(lambda value: value["k"], {"k": key})

    assert found == key
    assert type(found) is type(key)


def test_other_formats_are_decoded_first() -> None:
    """A selector on a stream of strings sees text [P7]."""
    key_of = load_selector(dump_selector(lambda line: line.split(",")[0], str, "string"))

    assert key_of(b"ann,3") == b"sann"


@pytest.mark.parametrize("key_type", [int, bytes, bool, tuple])
def test_a_key_of_another_type_than_declared_is_refused(key_type: type[Any]) -> None:
    """The declared type is checked for each input, so that 1 and "1" do not become two keys unseen [P7]."""
    with pytest.raises(DefinitionError, match=f"returned a str where key_type is {key_type.__name__}"):
        select(lambda value: "x", 0, key_type)


def test_true_is_no_integer_key() -> None:
    """A bool is not taken for the int that it is a kind of [P7]."""
    with pytest.raises(DefinitionError, match="returned a bool where key_type is int"):
        select(lambda value: True, 0, int)


def test_a_failing_selector_names_the_input_type() -> None:
    """The exception is the cause, the input's content is not shown."""
    with pytest.raises(DefinitionError, match="key selector failed on an input of type dict: KeyError: 'k'") as caught:
        select(lambda value: value["k"], {"secret": 1})

    assert "secret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("key", [None, 1.5, [1], {"a": 1}])
def test_a_key_that_is_none_is_refused(key: Any) -> None:
    """What has no canonical bytes cannot be a key [S1.7]."""
    with pytest.raises(NotExpressibleError, match="let the key selector return"):
        select(lambda value: key, 0)


def test_a_selector_that_cannot_travel_is_named() -> None:
    """The message names the selector and the variable [R2]."""
    held = LOCK

    with pytest.raises(
        DefinitionError, match=r"the key selector cannot be sent to the TaskManagers, because of held \(lock\)"
    ):
        dump_selector(lambda value: held, None, "pickle")


def test_another_python_is_refused() -> None:
    """Code by value is not read by another minor version [P2]."""
    tree = {**json.loads(dump_selector(str, None, "pickle")), "python": "2.7"}

    with pytest.raises(DefinitionError, match=r"submitted by Python 2\.7"):
        load_selector(json.dumps(tree).encode())


def test_keys_are_selected_for_as_many_values_as_a_time_slice_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow selector holds the task thread up for one value at most, however many came together [P7]."""
    values = pack_blobs([b"1", b"2", b"3"])
    key_of = load_selector(dump_selector(int, int, "string"))
    monkeypatch.setattr(selector_module, "SLICE_SECONDS", 3600.0)
    assert select_keys(key_of, values) == pack_blobs([b"i1", b"i2", b"i3"])

    monkeypatch.setattr(selector_module, "SLICE_SECONDS", 0.0)

    assert select_keys(key_of, values) == pack_blobs([b"i1"])
