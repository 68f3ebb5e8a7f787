from __future__ import annotations

from typing import Any

import pytest

from flink_agents_subagent._flink.kafka import KafkaMessages
from flink_agents_subagent.errors import DefinitionError


@pytest.mark.parametrize(("key", "value"), [(str, str), (bytes, bytes), (int, str)])
def test_types_that_java_reads_pass(key: type[Any], value: type[Any]) -> None:
    """Texts, bytes and whole numbers may be keys, texts and bytes inputs [P7]."""
    KafkaMessages(key, value, skip_tombstones=False).check()


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        (float, str, "key_type is <class 'float'>; this part of a Kafka message is read as one of str, bytes, int"),
        (str, int, "value_type is <class 'int'>; this part of a Kafka message is read as one of str, bytes"),
        (str, dict, "value_type is <class 'dict'>"),
        (bool, str, "key_type is <class 'bool'>"),
    ],
)
def test_other_types_are_refused_with_the_remedy(key: type[Any], value: type[Any], says: str) -> None:
    """A type that messages are not read as is named, with those there are [P7]."""
    with pytest.raises(DefinitionError) as raised:
        KafkaMessages(key, value, skip_tombstones=False).check()

    assert says in str(raised.value)
    assert "Read it as bytes" in str(raised.value)
