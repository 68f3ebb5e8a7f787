"""Values in headers and contents of HTTP: how call ids are written, and what hints and JSON say. Must not know who sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import quote

__all__ = ["encoded", "json_object", "seconds"]

_LONGEST_HINT_S = 86_400.0


def encoded(call_id: str) -> str:
    """Return a call id as it stands in a path or a header."""
    return quote(call_id.encode("utf-8", "surrogatepass"), safe="")


def json_object(content: bytes | str) -> Mapping[str, Any] | None:
    """Return the JSON object that a content is, None when it is none."""
    try:
        found = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After, which may be a date; None when it says nothing that can be read."""
    if retry_after is None:
        return None
    try:
        found = float(retry_after)
    except ValueError:
        try:
            when = parsedate_to_datetime(retry_after)
        except ValueError:
            return None
        # Without a zone it is UTC, as all dates of HTTP are.
        found = (when.replace(tzinfo=when.tzinfo or timezone.utc) - datetime.now(timezone.utc)).total_seconds()
    return max(found, 0.0) if found < _LONGEST_HINT_S else None
