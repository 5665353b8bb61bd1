"""Temporary endpoints: webhooks whose deliveries are read by the API instead of being sent."""

import re
from datetime import timedelta

TEMPORARY_URL = "https://listen.invalid/"
"""The endpoint URL that marks one; RFC 2606 reserves ``.invalid``, so nothing answers there."""

MAX_AGE = timedelta(hours=24)
"""The age at which a temporary endpoint is deleted if its command hasn't deleted it."""


def is_temporary(target_url: str) -> bool:
    """Return whether the webhook with that endpoint URL is a temporary endpoint."""
    return target_url == TEMPORARY_URL


NAME = re.compile(r"flask webhook listen \(temporary, ([0-9a-f]{8})-(\d{1,9})\)")
"""The name of a temporary endpoint and of the app created for it: a machine and a process."""


def has_own_app(webhook_name: str, app_name: str) -> bool:
    """Return whether the app was created for the endpoint, and so ends with it.

    Who can create a webhook for an app can't always delete the app, so a webhook that only takes
    the app's name must not be enough.
    """
    return app_name == webhook_name and NAME.fullmatch(app_name) is not None
