"""Moments as people type them: how long ago, or a date with a time or without."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

from app.domain.values.pages import in_utc
from app.domain.values.times import moment_problem

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_future(text: str, now: datetime) -> datetime:
    """Parse a moment that is still to come: how long from now, or a date, in UTC without a zone.

    Raises ``click.UsageError`` for anything else.
    """
    span = _read_span(text)
    return _read_date(text) if span is None else now + span


def read_moment(text: str, now: datetime) -> datetime:
    """Parse a moment, in UTC if it has no zone.

    Raises ``click.UsageError`` for anything else and for a moment in the future.
    """
    span = _read_span(text)
    if span is not None:
        return now - span
    moment = _read_date(text)
    if moment > now:
        raise click.UsageError(f"{text[:40]!r} is in the future. Enter a time in the past.")
    return moment


def _read_span(text: str) -> timedelta | None:
    span = re.fullmatch(r"(\d{1,5})([smhdw])", text.strip().lower())
    return timedelta(**{_UNITS[span[2]]: int(span[1])}) if span else None


def _read_date(text: str) -> datetime:
    try:
        moment = in_utc(datetime.fromisoformat(text.strip()))
    except ValueError:
        message = (
            f"{text[:40]!r} is not a valid time. Use 30m, 2h, 3d, 2026-03-01 or 2026-03-01T08:30."
        )
        raise click.UsageError(message) from None
    problem = moment_problem(moment, "")
    if problem is not None:
        raise click.UsageError(f"{text[:40]!r} can't be used. {problem.message}")
    return moment
