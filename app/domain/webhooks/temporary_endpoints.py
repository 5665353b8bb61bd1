"""Temporary endpoints: webhooks whose deliveries are read by the API instead of being sent."""

from datetime import timedelta

TEMPORARY_URL = "https://listen.invalid/"
"""The endpoint URL that marks one; RFC 2606 reserves ``.invalid``, so nothing answers there."""

MAX_AGE = timedelta(hours=24)
"""After this, a temporary endpoint is deleted even if nobody has removed it."""


def is_temporary(target_url: str) -> bool:
    """Return whether the webhook with that endpoint URL is a temporary endpoint."""
    return target_url == TEMPORARY_URL
