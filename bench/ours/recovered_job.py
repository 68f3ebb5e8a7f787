"""The job of PF7: `recovered_job.py <inputs folder> <runs> <calls of each>`, submitted to a cluster.

It reads a folder that is watched, so that a checkpoint can be complete before the first input comes.
"""

from __future__ import annotations

import sys

from pyflink.common import Duration, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.java_gateway import get_gateway

from bench.flink import java
from bench.ours.agents import RecoveredAgent
from bench.ours.runner import kafka_store
from flink_agents_subagent import AgentsExecutionEnvironment


def main(folder: str, runs: int, calls: int) -> None:
    """Build the job and submit it."""
    flink = StreamExecutionEnvironment.get_execution_environment()
    env = AgentsExecutionEnvironment.get_execution_environment(flink)
    # Each pair of sizes has its own store.
    for name, value in kafka_store(**{"job-identifier": f"recovered-{runs}-{calls}"}).items():
        env.set_option(name, value)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), folder)
    watched = source.monitor_continuously(Duration.of_millis(50)).build()
    lines = flink.from_source(watched, WatermarkStrategy.no_watermarks(), "orders")
    outputs = env.from_datastream(lines, key_field="key").apply(RecoveredAgent(runs, calls)).to_json_datastream()
    java(outputs).sinkTo(get_gateway().jvm.org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink())
    env.execute("recovered")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
