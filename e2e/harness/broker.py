"""A Kafka broker on this machine. Owns its process; topics and records are its clients' business.

`python -m e2e.harness.broker` runs one in the foreground until Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import final

from e2e.harness.broker_files import BROKER_FOLDER, Member, class_path, java, write_configuration
from e2e.harness.ports import free_ports
from e2e.harness.processes import HarnessError, ManagedProcess, end, temporary_folder, wait_until
from e2e.harness.signals import stop_on_signals

__all__ = ["KafkaBroker"]

_START_S = 120.0
_READY = "Kafka Server started"


@final
class KafkaBroker:
    """A broker on free ports of the loopback interface; the first of a cluster is its controller.

    Guarantee: at the end of the `with` block its process is gone, also after an exception or a signal (see
    `stop_on_signals`). Its data stays in `folder` from one start to the next; so do its ports.
    """

    def __init__(
        self, folder: Path, options: Mapping[str, str] | None = None, *, beside: KafkaBroker | None = None
    ) -> None:
        """Describe a broker.

        Args:
            folder: Where it works; exists.
            options: Go over those of `server.properties`.
            beside: The first broker of the cluster, which is its controller; None: this is the first.
        """
        self._folder = folder
        self._port, own_controller_port = free_ports(2)
        self._member: Member = Member.first(own_controller_port) if beside is None else beside._member.next()
        self._options = options or {}
        self._process: ManagedProcess | None = None
        self._starts = 0

    def __enter__(self) -> KafkaBroker:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> str:
        """Host and port, as `bootstrap.servers` takes them."""
        return f"127.0.0.1:{self._port}"

    @property
    def data(self) -> Path:
        """The folder of the topics' logs."""
        return self._folder / "data"

    @property
    def process(self) -> ManagedProcess:
        """The running process; raises `HarnessError` when there is none."""
        if self._process is None:
            raise HarnessError("the broker is not running")
        return self._process

    def start(self) -> None:
        """Start the process; returns when it takes requests."""
        properties = write_configuration(self._folder, self._port, self._member, self._options)
        self._starts += 1
        log = self._folder / f"broker-{self._starts}.log"
        logging = (BROKER_FOLDER / "log4j2.properties").as_uri()
        command: list[str | Path] = [java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        command += [f"-Dlog4j2.configurationFile={logging}", "-cp", class_path(), "kafka.Kafka", properties]
        process = self._process = ManagedProcess("Kafka broker", command, log)
        wait_until(lambda: _READY in process.log_tail(1000), "the broker takes requests", _START_S, [process])

    def stop(self) -> None:
        """Let the broker shut down in an orderly way."""
        if self._process is not None:
            # A paused one would not hear of it.
            self._process.resume()
            end([self._process], within_s=20)
            self._process = None

    def kill(self) -> None:
        """Kill the process with −9; `start` brings it back with what it had."""
        self.process.kill()
        self._process = None

    def pause(self) -> None:
        """Stop the process in its tracks: connections stay, nothing is answered."""
        self.process.pause()

    def resume(self) -> None:
        """Let a paused process go on."""
        self.process.resume()


def main() -> int:
    """Run a broker until Ctrl-C."""
    # A shell that starts it in the background has its children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("A Kafka broker is starting (the first time it is downloaded) …", flush=True)
    try:
        with stop_on_signals(), temporary_folder("kafka-broker-") as folder, KafkaBroker(folder) as broker:
            print(f"bootstrap.servers = {broker.address}   (Ctrl-C ends the broker and deletes its data)", flush=True)
            while broker.process.is_alive:
                threading.Event().wait(1)
            broker.process.check_alive()
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nThe broker is gone.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
