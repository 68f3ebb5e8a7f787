"""The trivial action as PyFlink has it: a keyed process function that yields its input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink.common import Types
from pyflink.datastream import DataStream, KeyedProcessFunction

from bench.flink import THREAD_MODE, Window, environment, inputs, java, measure


class Trivial(KeyedProcessFunction):  # type: ignore[misc] # PyFlink ships no types
    """Hands each input on."""

    def process_element(self, value: dict[str, Any], ctx: KeyedProcessFunction.Context) -> Iterator[dict[str, Any]]:
        """Yield the input."""
        del ctx
        yield value


def handed_on(stream: DataStream) -> DataStream:
    """Return the stream behind the action."""
    return stream.key_by(lambda event: event["key"], key_type=Types.STRING()).process(Trivial())


def run(window: Window) -> dict[str, float]:
    """Run the job in thread mode and return its figures."""
    env = environment(THREAD_MODE)
    return measure(env, java(handed_on(inputs(env, window))), window)
