"""Kafka messages as the inputs of an agent, keyed by their own keys (P7). Submission side only."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import KafkaSourceBuilder
from pyflink.java_gateway import get_gateway

from flink_agents_subagent._flink.shipping import add_jar, check_java, java_version
from flink_agents_subagent.errors import DefinitionError

__all__ = ["KafkaMessages", "message_stream"]

_TYPES = {str: Types.STRING, bytes: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()), int: Types.LONG}
_KEY_TYPES = (str, bytes, int)
_VALUE_TYPES = (str, bytes)


class KafkaMessages(NamedTuple):
    """How messages are read."""

    key_type: type[Any]
    value_type: type[Any]
    skip_tombstones: bool

    def check(self) -> None:
        """Refuse types that messages are not read as.

        Raises:
            DefinitionError: Names the type and those there are.
        """
        for name, given, known in (
            ("key_type", self.key_type, _KEY_TYPES),
            ("value_type", self.value_type, _VALUE_TYPES),
        ):
            if given not in known:
                names = ", ".join(one.__name__ for one in known)
                raise DefinitionError(
                    f"{name} is {given!r}; this part of a Kafka message is read as one of {names}. "
                    "Read it as bytes, and let the action make of it what it is"
                )


def message_stream(
    environment: StreamExecutionEnvironment,
    source: KafkaSourceBuilder,
    name: str,
    messages: KafkaMessages,
    watermarks: WatermarkStrategy | None,
) -> DataStream:
    """Return the stream of rows (key, value) of a Kafka source, made in Java; the builder gets its deserializer here."""
    messages.check()
    check_java(java_version())
    add_jar(environment)
    read = get_gateway().jvm.io.github.flinkagents.subagent.source.KafkaMessageSchema
    schema = read.of(messages.key_type.__name__, messages.value_type.__name__, messages.skip_tombstones)
    source._j_builder.setDeserializer(schema)
    row = Types.ROW_NAMED(["key", "value"], [_TYPES[messages.key_type](), _TYPES[messages.value_type]()])
    stream = environment.from_source(source.build(), watermarks or WatermarkStrategy.no_watermarks(), name, row)
    return stream.uid(name)
