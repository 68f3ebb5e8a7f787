"""The agent of `examples.demo` between two Kafka topics: the key of a message is the agent's key, outputs are transactional.

Submit it with `flink run -py examples/kafka_to_kafka/job.py -- --brokers HOSTS --desks URL --jars FILE…`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyflink.common.serialization import SimpleStringSchema
from pyflink.datastream.connectors.base import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
)

from examples.demo.job import Desk, DestinationWatch
from flink_agents_subagent import AgentsExecutionEnvironment, ResourceDescriptor, ResourceType

NAME = "destination-watch"
"""Names the job in the store, its consumer group and its transactions."""
INPUT_TOPIC, OUTPUT_TOPIC = "flights", "watch"


def flights(brokers: str) -> KafkaSourceBuilder:
    """Return the source of flights, which are JSON texts keyed by destination."""
    source = KafkaSource.builder().set_bootstrap_servers(brokers).set_topics(INPUT_TOPIC).set_group_id(NAME)
    return source.set_starting_offsets(KafkaOffsetsInitializer.earliest())


def exactly_once_sink(brokers: str) -> KafkaSink:
    """Return the sink: its transactions are committed with the checkpoints; consumers read with `read_committed`."""
    record = KafkaRecordSerializationSchema.builder().set_topic(OUTPUT_TOPIC)
    record.set_value_serialization_schema(SimpleStringSchema())
    sink = KafkaSink.builder().set_bootstrap_servers(brokers).set_record_serializer(record.build())
    sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix(NAME)
    # Longer than a job may be down, or the broker drops what it has yet to commit; no longer than the broker allows.
    return sink.set_property("transaction.timeout.ms", "900000").build()


def main() -> None:
    """Build the job and submit it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brokers", required=True, help="bootstrap servers")
    parser.add_argument("--desks", required=True, help="address of the desks")
    parser.add_argument("--jars", type=Path, nargs="+", required=True, help="the Kafka connector, with its client")
    parser.add_argument("--checkpoint-ms", type=int, default=1000, help="time between checkpoints")
    parser.add_argument("--retained-checkpoints", type=int, default=2, help="checkpoints whose records the store keeps")
    options = parser.parse_args()

    env = AgentsExecutionEnvironment.get_execution_environment()
    env.stream_environment.add_jars(*(jar.absolute().as_uri() for jar in options.jars))
    env.stream_environment.enable_checkpointing(options.checkpoint_ms)
    env.set_option("job-identifier", NAME)
    env.set_option("action-state-store", "kafka")
    env.set_option("store.kafka.bootstrap-servers", options.brokers)
    env.set_option("store.retained-checkpoints", options.retained_checkpoints)
    agent = DestinationWatch()
    for name in ("seats", "rooms"):
        desk = ResourceDescriptor(clazz=Desk, url=f"{options.desks}/{name}")
        agent.add_resource(name, ResourceType.AGENT, desk)
    inputs = env.from_kafka(flights(options.brokers), INPUT_TOPIC)
    inputs.apply(agent).to_json_datastream().sink_to(exactly_once_sink(options.brokers)).uid(OUTPUT_TOPIC)
    env.execute(NAME)


if __name__ == "__main__":
    main()
