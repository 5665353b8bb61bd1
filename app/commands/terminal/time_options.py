"""Moments as people type them: how long ago, or a date with a time or without."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_moment(text: str, now: datetime) -> datetime:
    """Parse a moment, in UTC if it has no zone.

    Raises ``click.UsageError`` for anything else and for a moment in the future.
    """
    ago = re.fullmatch(r"(\d{1,5})([smhdw])", text.strip().lower())
    if ago:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        message = f"{text[:40]!r} is no time: write 30m, 2h, 3d, 2026-03-01 or 2026-03-01T08:30."
        raise click.UsageError(message) from None
    if moment > now:
        raise click.UsageError(f"{text[:40]!r} is still to come: say from when on until now.")
    return moment
