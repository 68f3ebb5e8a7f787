"""The example job between two Kafka topics, and the run that kills it in the middle: `python -m examples.kafka_to_kafka`."""
