"""Webhooks and deliveries as commands show them, and how they are looked up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from app.commands.terminal.output import Column, Displayable
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.ports.instance import (
    Instance,
    InstanceApp,
    InstanceAttempt,
    InstanceDelivery,
    InstanceWebhook,
)

Named = TypeVar("Named", InstanceApp, InstanceWebhook)

_MAX_NAMED = 20


def _tried(
    read: Callable[[InstanceAttempt], Displayable],
) -> Callable[[InstanceDelivery], Displayable]:
    """Return a field of the newest attempt at a delivery, if there is one."""
    return lambda delivery: None if delivery.attempt is None else read(delivery.attempt)


_LISTED_TARGET = Column[InstanceWebhook](
    "targetUrl", "Target", lambda webhook: masked_url(webhook.target_url), short=True
)
_TARGET = Column[InstanceWebhook](
    "targetUrl", "Target", lambda webhook: webhook.target_url, short=True
)
WEBHOOKS = (
    Column[InstanceWebhook]("id", "ID", lambda webhook: webhook.id, short=True),
    Column[InstanceWebhook]("name", "Name", lambda webhook: webhook.name, short=True),
    Column[InstanceWebhook]("app", "App", lambda webhook: webhook.app.name),
    _LISTED_TARGET,
    Column[InstanceWebhook]("isActive", "Active", lambda webhook: webhook.is_active, short=True),
    Column[InstanceWebhook]("events", "Events", lambda webhook: webhook.events),
)
"""The columns of a list, in which URLs have no keys."""

WEBHOOK = (
    *(_TARGET if column is _LISTED_TARGET else column for column in WEBHOOKS),
    Column[InstanceWebhook]("appId", "App ID", lambda webhook: webhook.app.id),
    Column[InstanceWebhook](
        "customHeaders", "Headers", lambda webhook: sorted(webhook.custom_headers)
    ),
    Column[InstanceWebhook]("hasSecret", "Has a secret", lambda webhook: webhook.has_secret),
    Column[InstanceWebhook]("query", "Query", lambda webhook: webhook.query, has_lines=True),
)


def with_secret(secret: str) -> tuple[Column[InstanceWebhook], ...]:
    """The columns right after ``secret`` was generated; it can't be shown later."""
    return (*WEBHOOK, Column[InstanceWebhook]("secretKey", "Secret", lambda _: secret, short=True))


DELIVERIES = (
    Column[InstanceDelivery]("id", "ID", lambda delivery: delivery.id, short=True),
    Column[InstanceDelivery](
        "createdAt", "Created", lambda delivery: delivery.created_at, short=True
    ),
    Column[InstanceDelivery]("event", "Event", lambda delivery: delivery.event, short=True),
    Column[InstanceDelivery]("status", "Status", lambda delivery: delivery.status, short=True),
    Column[InstanceDelivery](
        "responseStatus", "Answer", _tried(lambda delivery: delivery.response_status)
    ),
    Column[InstanceDelivery](
        "duration",
        "Seconds",
        _tried(lambda delivery: delivery.duration and round(delivery.duration, 3)),
    ),
    Column[InstanceDelivery]("triedAt", "Tried", _tried(lambda delivery: delivery.created_at)),
)


def find_webhook(instance: Instance, text: str) -> InstanceWebhook:
    """Return the webhook with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    return _only(instance.webhooks(), text, "webhook", "List webhooks with: flask webhook list")


def find_app(instance: Instance, text: str) -> InstanceApp:
    """Return the app with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    apps = instance.apps()
    names = ", ".join(app.name for app in apps[:_MAX_NAMED])
    return _only(apps, text, "app", f"Available: {names}" if apps else "There are none yet.")


def _only(candidates: Sequence[Named], text: str, what: str, hint: str) -> Named:
    for candidate in candidates:
        if candidate.id == text:
            return candidate
    named = [candidate for candidate in candidates if candidate.name == text]
    if len(named) == 1:
        return named[0]
    if named:
        ids = ", ".join(candidate.id for candidate in named)
        message = "Several have this name. Use an ID: {ids}"
        raise Refused(Problem("NOT_FOUND", message, what, values={"ids": ids}))
    message = "No matching {what}. {hint}"
    raise Refused(Problem("NOT_FOUND", message, what, values={"what": what, "hint": hint}))


def payload_of(delivery: InstanceDelivery) -> Mapping[str, object] | None:
    """The payload as JSON; ``None`` where there was none to send."""
    payload = json.loads(delivery.payload) if delivery.payload else None
    return payload if isinstance(payload, dict) else None
