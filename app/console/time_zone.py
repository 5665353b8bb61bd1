"""The time zone in which a page shows times: the person's own, or UTC."""

from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.domain.values.times import in_zone

_zone: ContextVar[tzinfo] = ContextVar("time_zone", default=UTC)


def use_time_zone(name: str | None) -> None:
    """Show times of this request in the IANA time zone ``name``; without one, in UTC."""
    try:
        _zone.set(ZoneInfo(name) if name else UTC)
    except ZoneInfoNotFoundError:  # this machine's time zone database is older
        _zone.set(UTC)


def time_zone() -> tzinfo:
    """Return the time zone of this request."""
    return _zone.get()


def time_zone_name() -> str:
    """Return the name of the time zone of this request: ``UTC``, ``Europe/Berlin``."""
    return str(_zone.get())


def local(moment: datetime) -> datetime:
    """Return ``moment`` in the time zone of this request."""
    return in_zone(moment, _zone.get())


def zone_label(moment: datetime) -> str:
    """Return what the time zone is called at a local moment: ``UTC``, ``CET``, ``UTC+05:30``."""
    name = moment.tzname() or ""
    if name.isalpha():
        return name
    offset = f"{moment:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}"
