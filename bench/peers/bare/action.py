"""The Python function that the bare operator calls."""

from __future__ import annotations

import pickle


def handle(record: bytes) -> bytes:
    """Return the record, unpickled and pickled again, as any action must."""
    return pickle.dumps(pickle.loads(record))
