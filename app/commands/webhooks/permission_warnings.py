"""Warn when the app of a created or changed webhook lacks permissions for its events."""

from __future__ import annotations

from app.commands.terminal.output import output
from app.domain.webhooks import not_permitted, receives_nothing
from app.ports.instance import InstanceWebhook


def warn_of_missing_permission(webhook: InstanceWebhook) -> bool:
    """Print the events that the app can't receive, and why; return whether that is all events."""
    app = webhook.app
    if app.permissions is None:
        return False
    for permission, events in not_permitted(webhook.events, app.permissions).items():
        need = "needs" if len(events) == 1 else "need"
        message = f"{', '.join(events)} {need} {permission}, which {app.name} doesn't have"
        output().say(f"Warning: {message}. These events won't be sent.")
    return receives_nothing(webhook.events, app.permissions)
