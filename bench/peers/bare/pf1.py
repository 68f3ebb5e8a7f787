"""PF1 at its limit: one call into the embedded interpreter per record."""

from __future__ import annotations

from pyflink.common import Types

from bench.flink import Window, environment, keyed_rows, measure, operators
from bench.protocol import hand_in, sizes


def main() -> None:
    """Run the job."""
    window = Window(**sizes())
    env = environment()
    operator = operators().BareOperatorFactory("bench.peers.bare.action")
    outputs = keyed_rows(env, window).transform("bare", Types.PICKLED_BYTE_ARRAY().get_java_type_info(), operator)
    hand_in(measure(env, outputs, window))


if __name__ == "__main__":
    main()
