"""Dates in words, as emails show them."""

from datetime import datetime


def date_in_words(moment: datetime) -> str:
    """Return ``moment``, which is in UTC, with minutes and its zone."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"
