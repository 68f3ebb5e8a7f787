"""What all Flink jobs share: the environment, the inputs and the meter at their end. Runs in the job's process.

It knows nothing of what is measured between inputs and meter.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import DataStream, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.java_gateway import get_gateway

from bench.protocol import jar, since_start

THREAD_MODE = {"python.execution-mode": "thread"}
"""The setting with which PyFlink runs Python functions inside the TaskManager."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which inputs are measured: `inputs` of them, after `warm_up`, spread evenly over `keys`."""

    warm_up: int
    inputs: int
    keys: int = 1000

    @property
    def total(self) -> int:
        """The number of inputs that the job gets."""
        return self.warm_up + self.inputs


def environment(settings: Mapping[str, str] | None = None) -> StreamExecutionEnvironment:
    """Return a local environment of one subtask that has the measuring operators."""
    configuration = Configuration()
    configuration.set_string("python.executable", sys.executable)
    # Flink's default keeps checkpoints in memory and refuses one above 5 MiB: the inputs that an agent holds can be more.
    configuration.set_string("execution.checkpointing.storage", "filesystem")
    configuration.set_string("execution.checkpointing.dir", f"file://{tempfile.gettempdir()}/checkpoints")
    for key, value in (settings or {}).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    env.add_jars(f"file://{jar()}")
    return env


def inputs(env: StreamExecutionEnvironment, window: Window, per_second: int | None = None) -> DataStream:
    """Return a stream of dictionaries `{"key": "k7", "value": 1007}`, pickled as PyFlink does it, but in Java.

    They come as fast as they are taken, or `per_second` of them.
    """
    pickles = operators().PickledInputs(window.keys)
    numbers = java(_numbers(env, window))
    if per_second is not None:
        numbers = numbers.map(operators().Paced(per_second)).returns(Types.LONG().get_java_type_info())
    return DataStream(numbers.map(pickles).returns(Types.PICKLED_BYTE_ARRAY().get_java_type_info()))


def keyed_rows(env: StreamExecutionEnvironment, window: Window) -> Any:
    """Return the same inputs as a Java stream of (key, pickle) rows, keyed in Java."""
    row = Types.ROW([Types.STRING(), Types.PICKLED_BYTE_ARRAY()]).get_java_type_info()
    selector = get_gateway().jvm.org.apache.flink.streaming.api.functions.python.KeyByKeySelector()
    rows = java(_numbers(env, window)).map(operators().KeyedRows(window.keys)).returns(row)
    return rows.keyBy(selector, Types.ROW([Types.STRING()]).get_java_type_info())


def measure(env: StreamExecutionEnvironment, outputs: Any, window: Window, *, memory: bool = False) -> dict[str, float]:
    """Put the meter behind a Java stream, run the job and return its figures; `memory` adds those of memory.

    Raises:
        RuntimeError: There were not as many outputs as inputs.
    """
    meter = operators().MeterFactory(window.warm_up, window.total, memory)
    outputs.transform("meter", Types.LONG().get_java_type_info(), meter)
    found: dict[str, int] = env.execute("bench").get_all_accumulator_results()
    if found["outputs"] != window.total:
        raise RuntimeError(f"{found['outputs']} outputs for {window.total} inputs")
    figures = {
        "inputs": found["inputs"],
        "seconds": found["nanos"] / 1e9,
        "cpu_seconds": found["cpu_nanos"] / 1e9,
        "first_output_s": since_start(found["first_output_epoch_ms"]),
        "last_output_s": since_start(found["end_epoch_ms"]),
    }
    if memory:
        growth = found["rss_growth_bytes"] + found["heap_growth_bytes"]
        figures |= {name: found[name] for name in ("rss_growth_bytes", "heap_growth_bytes")}
        figures["growth_bytes_per_input"] = growth / found["inputs"]
    return figures


def java(stream: DataStream) -> Any:
    """Return the Java stream below a PyFlink stream."""
    return stream._j_data_stream


def operators() -> Any:
    """Return the Java package of the measuring operators."""
    return get_gateway().jvm.bench


def _numbers(env: StreamExecutionEnvironment, window: Window) -> DataStream:
    source = NumberSequenceSource(0, window.total - 1)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "inputs", Types.LONG())
