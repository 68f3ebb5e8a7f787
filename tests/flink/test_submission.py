"""`python job.py` on a local cluster: every kind of stream, typed results, and the messages of what fails."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.flink, pytest.mark.timeout(600)]

_JOBS = Path(__file__).with_name("jobs")
_ROOT = Path(__file__).parents[2]
_REFUSALS = [
    "needs one of key_selector and key_field, unless the stream is keyed: key_selector=lambda value: value['user']",
    "needs one of key_selector and key_field, not both",
    "key_field='user' is read in Java, which cannot look into pickled Python objects; use key_selector",
    "key_field='usr' is no field of RowTypeInfo(user: String); it has user",
    "key_type is <class 'float'>; a key is one of str, int, bytes, bool, tuple",
    "the job already has an agent 'echo'; give this one another name, by which savepoints find its state",
    "from_list needs at least one input",
    "the outputs of agent 'echo' are already taken as pickle, not json; map that stream, or apply the agent a second time",
    "call env.set_option('on-action-error', 'dead-letter') before apply()",
    "max-concurrent-checkpoints is 2, but the Kafka store deletes records by the order of checkpoints",
    "event-log is 'file', and event-log.file.directory is not set; set it to a folder",
]


@functools.cache
def results() -> dict[str, Any]:
    """Run all jobs in one process, as an author would, and return what they printed."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, str(_JOBS / "submission.py")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def cause(case: str) -> str:
    """Return the message of the innermost Java exception of a failed job, which may quote the one that it wraps."""
    return str(re.findall(r"Caused by: (?:[\w$]+(?:\.[\w$]+)+: )+(.*)", results()[case])[-1])


def test_classes_of_the_script_come_back_as_themselves() -> None:
    """Inputs and outputs of `__main__` types are instances of the script's own classes [P8, P9]."""
    assert results()["script_types"] == [True, [["u0", 0], ["u0", 2], ["u1", 1], ["u1", 3]]]


def test_texts_are_keyed_in_java_and_leave_as_json() -> None:
    """The key is a field of the JSON text, with its own type; no Python but the agent's is started [P7, P8]."""
    outputs = [json.loads(text) for text in results()["strings_by_field"]]

    assert sorted(outputs, key=str) == [["é", '{"u": "é", "n": 1}'], [5, '{"u": 5, "n": 2}']]


@pytest.mark.parametrize("case", ["rows_by_selector", "rows_by_field"])
def test_rows_arrive_as_records(case: str) -> None:
    """A row keeps its names and the types of its values, whoever takes the key [P7, E3.3]."""
    assert results()[case] == ["ann ann 2024-02-29 ('user', 'when')"]


def test_bytes_and_tuple_keys() -> None:
    """Two agents in a row, bytes between them, every byte value and a tuple as the key [P7, P8, S1.7]."""
    assert results()["bytes_and_tuples"] == ["00610061", "ff62ff62"]


@pytest.mark.parametrize("case", ["keyed_stream", "typed_keyed_stream"])
def test_a_keyed_stream_of_pyflink_is_taken(case: str) -> None:
    """The key of `key_by` is the agent's, pickled or typed [P7]."""
    assert results()[case] == [["a", ["a", 1]], ["a", ["a", 3]], ["b", ["b", 2]]]


def test_inputs_of_a_key_keep_their_order() -> None:
    """A source of one subtask before two of ours does not deal the inputs of a key out of order [E1.1]."""
    assert results()["order"] == {f"k{rest}": list(range(rest, 60, 3)) for rest in range(3)}


def test_dead_letters_can_be_read() -> None:
    """A failed run leaves its input with the error, and the job goes on [E1.8]."""
    expected = [[True, "u1", "ValueError", f"{number} is odd", "receive"] for number in (1, 3)]

    assert results()["dead_letters"] == expected


def test_sub_agents_work_in_a_job() -> None:
    """A built and a pickled one are opened on the loop of their calls; what they raise is a failed result [R1, R3, I3, V1]."""
    expected = [[number, "built True", "pickled True"] for number in range(3)]

    assert results()["subagents"] == [*expected, [3, "ValueError: no three", "ValueError: no three"]]


def test_other_types_are_converted_by_pyflink() -> None:
    """An output type without format of ours still works [P8]."""
    assert results()["typed_output"] == [0, 1, 2, 3]


def test_running_again_is_another_submission() -> None:
    """A second run must not find the journals of the first [E5.1]."""
    assert results()["twice"] == [True, True]


def test_a_failing_action_names_itself() -> None:
    """The job fails with agent, action, hashed key and the author's traceback [E1.8]."""
    assert re.match(
        r"ActionError: action 'receive' of agent 'Picky' failed for key #\w+, .*: ValueError: \d is odd",
        cause("failing_action"),
    )
    assert "submission.py" in results()["failing_action"]


def test_a_resource_that_does_not_open_names_itself() -> None:
    """The job fails at its start with the resource and its error [R3]."""
    assert cause("failing_open").startswith(
        "DefinitionError: resource 'first' (agent) cannot be opened: OSError: no key"
    )


def test_a_result_of_unknown_type_names_the_option() -> None:
    """With pickle denied, a result that cannot be rebuilt fails the job with call, type and remedy [E3.5]."""
    assert re.match(r"EncodingError: .*object.*journal\.pickle", cause("unknown_type"))


def test_a_key_of_the_wrong_type_is_named() -> None:
    """A selector that breaks its declaration fails the job [P7]."""
    assert cause("wrong_key").startswith("DefinitionError: the key selector returned a int where key_type is str")


@pytest.mark.parametrize(("index", "says"), list(enumerate(_REFUSALS)))
def test_wrong_submissions_are_refused(index: int, says: str) -> None:
    """Mistakes in the job script are found before anything is submitted, with the remedy [P7, P8]."""
    assert says in results()["refusals"][index]
