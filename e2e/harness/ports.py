"""Free ports of the loopback interface."""

from __future__ import annotations

import random
import socket

from e2e.harness.processes import HarnessError

__all__ = ["free_ports"]

# Below the range from which systems take the ports of outgoing connections, so that none of those steps in between.
_FIRST, _LAST = 20_000, 29_999


def free_ports(count: int) -> list[int]:
    """Return `count` different ports on which nothing listens at this moment."""
    found: list[int] = []
    for port in random.sample(range(_FIRST, _LAST), k=200):
        if len(found) == count:
            return found
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
    raise HarnessError(f"no {count} free ports between {_FIRST} and {_LAST} on 127.0.0.1")
