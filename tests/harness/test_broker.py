from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.harness.broker import KafkaBroker
from e2e.harness.processes import HarnessError

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


def _accepts(broker: KafkaBroker) -> bool:
    host, port = broker.address.split(":")
    try:
        with socket.create_connection((host, int(port)), timeout=30):
            return True
    except ConnectionRefusedError:
        return False


def test_a_killed_broker_comes_back_with_its_address_and_data(tmp_path: Path) -> None:
    """The broker answers at its address before a kill and after a new start, and works in the same folder [S2.6]."""
    with KafkaBroker(tmp_path) as broker:
        address, process = broker.address, broker.process
        assert _accepts(broker)
        identity = (tmp_path / "data" / "meta.properties").read_text()

        broker.kill()
        assert not process.is_alive and not _accepts(broker)
        broker.start()

        assert broker.address == address
        assert _accepts(broker)
        assert identity.splitlines()[1] in (tmp_path / "data" / "meta.properties").read_text()
        process = broker.process
    assert not process.is_alive


def test_a_paused_broker_lives_and_can_be_stopped(tmp_path: Path) -> None:
    """A pause leaves the process alive, and the end of the block ends it all the same."""
    with KafkaBroker(tmp_path) as broker:
        broker.pause()
        process = broker.process
        assert process.is_alive
    assert not process.is_alive
    with pytest.raises(HarnessError, match="not running"):
        broker.pause()


def test_the_command_prints_the_address_and_ends_on_ctrl_c() -> None:
    """`make broker` tells where to connect, and Ctrl-C leaves nothing behind."""
    command = [sys.executable, "-m", "e2e.harness.broker"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, start_new_session=True) as process:  # noqa: S603 - our own module
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        address = next(line for line in lines if "bootstrap.servers" in line).split()[2]
        os.kill(process.pid, signal.SIGINT)

        assert process.wait(60) == 0
    host, port = address.split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=30)
