"""Writes the Flink set-up of the container image: `python -m examples.kafka_to_kafka.image FOLDER`.

Owns how it differs from that of a run on one machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from e2e.harness.cluster import ClusterSettings
from e2e.harness.distribution import FlinkDistribution

__all__ = ["DATA", "PYTHON", "REST_PORT", "write_setup"]

DATA = Path("/data")
"""Volume of all containers: checkpoints and savepoints."""
PYTHON = Path("/opt/venv/bin/python")
REST_PORT, _RPC_PORT = 8081, 6123
_ANY = "0.0.0.0"  # noqa: S104 - what a container shows is said where it is started
_OPTIONS = {
    # Containers find each other by name, and a TaskManager tells its own address.
    "jobmanager.rpc.address": "jobmanager",
    "rest.address": "jobmanager",
    "jobmanager.bind-host": _ANY,
    "taskmanager.bind-host": _ANY,
    "rest.bind-address": _ANY,
    "io.tmp.dirs": "/tmp",  # noqa: S108 - of a container
    # They are to live longer than those of a test.
    "env.java.opts.all": "",
    "parallelism.default": "2",
}


def write_setup(folder: Path) -> None:
    """Write `lib` and `conf` into a folder, for `FLINK_LIB_DIR` and `FLINK_CONF_DIR`."""
    folder.mkdir(parents=True, exist_ok=True)
    options = ClusterSettings(slots=2, python=PYTHON, options=_OPTIONS).flink_options(DATA, REST_PORT, _RPC_PORT)
    del options["taskmanager.host"]
    flink = FlinkDistribution.installed()
    flink.link_libraries(folder / "lib")
    flink.write_configuration(folder / "conf", options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    write_setup(parser.parse_args().folder)
