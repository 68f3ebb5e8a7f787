"""A job without any Python operator: numbers come at a pace and go into files, exactly once."""

from __future__ import annotations

import sys

from pyflink.common import Types
from pyflink.common.serialization import Encoder
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink
from pyflink.java_gateway import get_gateway


def main() -> None:
    """Count to the second argument, at the third's numbers a second, into the folder of the first."""
    folder, count, per_second = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.enable_checkpointing(200)
    flink = get_gateway().jvm.org.apache.flink
    text = Types.STRING().get_java_type_info()
    numbers = flink.connector.datagen.functions.FromElementsGeneratorFunction(
        text, env._j_stream_execution_environment.getConfig(), [str(number) for number in range(count)]
    )
    pace = flink.api.connector.source.util.ratelimit.RateLimiterStrategy.perSecond(per_second)
    source = flink.connector.datagen.source.DataGeneratorSource(numbers, count, pace, text)
    watermarks = flink.api.common.eventtime.WatermarkStrategy.noWatermarks()
    stream = env._j_stream_execution_environment.fromSource(source, watermarks, "numbers", text)
    DataStream(stream).sink_to(FileSink.for_row_format(folder, Encoder.simple_string_encoder()).build())
    env.execute("count")


if __name__ == "__main__":
    main()
