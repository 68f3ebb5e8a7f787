"""An entry of the event log as a line of JSON (E7.2). Owns the form of a line; must not know what entries say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

__all__ = ["LogLines"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LATEST_MS = 253_402_300_799_999
"""The last millisecond that has a date."""
_encode = json.JSONEncoder(allow_nan=False, separators=(", ", ": ")).encode


class LogLines:
    """Makes the lines of one operator instance: each says when and where something happened, and what.

    Guarantee: ASCII text without a line break, and one JSON object.
    """

    __slots__ = ("_where",)

    def __init__(self, where: Mapping[str, Any]) -> None:
        """Take what all lines say alike: job, operator, subtask, attempt of the task."""
        self._where = _encode(where)[1:-1]

    def line(self, entry: Mapping[str, Any]) -> str:
        """Return an entry as a line."""
        told = {name: value for name, value in entry.items() if name != "time_ms"}
        return f'{{"time": "{_time(entry["time_ms"])}", {self._where}, {_encode(told)[1:]}'


def _time(time_ms: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=min(max(time_ms, 0), _LATEST_MS))
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
