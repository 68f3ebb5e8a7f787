"""The PyFlink types that our public signatures mention, so that only this package imports pyflink."""

from pyflink.common import JobExecutionResult, TypeInformation, WatermarkStrategy
from pyflink.datastream import DataStream, KeySelector, StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import KafkaSourceBuilder

__all__ = [
    "DataStream",
    "JobExecutionResult",
    "KafkaSourceBuilder",
    "KeySelector",
    "StreamExecutionEnvironment",
    "TypeInformation",
    "WatermarkStrategy",
]
