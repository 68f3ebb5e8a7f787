"""Dates with time zones as text. Knows the zones that a later process can rebuild as the same type."""

from __future__ import annotations

import datetime as dt
import zoneinfo

from flink_agents_subagent._engine.encoding.kinds import Refused, type_name

__all__ = ["describe", "rebuild_datetime", "rebuild_time"]

_MICROSECOND = dt.timedelta(microseconds=1)


def describe(value: dt.datetime | dt.time) -> object:
    """Return ISO text for local times without zone, else `[text, fold, zone]`; the text is the local time."""
    zone = value.tzinfo
    text = value.replace(tzinfo=None, fold=0).isoformat()
    if zone is None:
        return text if not value.fold else [text, value.fold, None]
    if zone is dt.timezone.utc:
        return [text, value.fold, "UTC"]
    if type(zone) is zoneinfo.ZoneInfo and zone.key is not None:
        return [text, value.fold, {"key": zone.key}]
    if type(zone) is dt.timezone:
        offset = zone.utcoffset(None) // _MICROSECOND
        name = zone.tzname(None)
        is_unnamed = name == dt.timezone(zone.utcoffset(None)).tzname(None)
        return [text, value.fold, {"offset": offset} if is_unnamed else {"offset": offset, "name": name}]
    raise Refused(
        f"a time zone of type {type_name(type(zone))} (zoneinfo.ZoneInfo and datetime.timezone can be rebuilt)"
    )


def rebuild_datetime(described: object) -> dt.datetime:
    """Return the date and time that `describe` described."""
    if isinstance(described, str):
        return dt.datetime.fromisoformat(described)
    text, fold, zone = _parts(described)
    return dt.datetime.fromisoformat(text).replace(tzinfo=_rebuild_zone(zone), fold=fold)


def rebuild_time(described: object) -> dt.time:
    """Return the time of day that `describe` described."""
    if isinstance(described, str):
        return dt.time.fromisoformat(described)
    text, fold, zone = _parts(described)
    return dt.time.fromisoformat(text).replace(tzinfo=_rebuild_zone(zone), fold=fold)


def _parts(described: object) -> tuple[str, int, object]:
    if not isinstance(described, list):
        raise TypeError(f"a time is text or a list, not {described!r}")
    text, fold, zone = described
    return text, fold, zone


def _rebuild_zone(zone: object) -> dt.tzinfo | None:
    if zone is None:
        return None
    if zone == "UTC":
        return dt.timezone.utc
    if not isinstance(zone, dict):
        raise TypeError(f"a time zone is a name or an offset, not {zone!r}")
    if "key" in zone:
        return zoneinfo.ZoneInfo(zone["key"])
    offset = dt.timedelta(microseconds=zone["offset"])
    return dt.timezone(offset, zone["name"]) if "name" in zone else dt.timezone(offset)
