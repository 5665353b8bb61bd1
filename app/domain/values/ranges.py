"""Ranges that lists are narrowed to; both ends belong to them, and either may be open."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Generic, TypeVar

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(rf"{_DAY.pattern}[ T][0-9]{{2}}:[0-9]{{2}}")

Bound_co = TypeVar("Bound_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Range(Generic[Bound_co]):
    """From ``gte`` to ``lte``."""

    gte: Bound_co | None = None
    lte: Bound_co | None = None


def moments(gte: datetime | None, lte: datetime | None) -> Range[datetime]:
    """The range between two moments; one that names no zone is in UTC."""
    return Range(None if gte is None else in_utc(gte), None if lte is None else in_utc(lte))


def days(gte: date | None, lte: date | None, zone: tzinfo = UTC) -> Range[datetime]:
    """The range from the beginning of one day to the end of another, both in ``zone``."""
    return moments(
        None if gte is None else datetime.combine(gte, time.min, zone),
        None if lte is None else datetime.combine(lte, time.max, zone),
    )


def parse_day(text: str) -> date | None:
    """The day that ``text`` spells as ``2026-03-01``, or ``None``."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_moment(text: str, zone: tzinfo) -> datetime | None:
    """Return the moment that ``text`` spells as ``2026-03-01 12:00`` in ``zone``, or ``None``."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return in_utc(datetime.fromisoformat(text).replace(tzinfo=zone))
    except ValueError:
        return None


def in_utc(moment: datetime) -> datetime:
    """``moment`` in UTC, which it is taken to be where it names no zone."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # an hour before the year 1, or after 9999: as near as can be
        return moment.replace(tzinfo=UTC)
