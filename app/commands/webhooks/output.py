"""Webhooks and deliveries as commands show them, and how they are looked up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from app.commands.terminal.output import Column, Displayable
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


WEBHOOKS = (
    Column[InstanceWebhook]("id", "Id", lambda one: one.id, short=True),
    Column[InstanceWebhook]("name", "Name", lambda one: one.name, short=True),
    Column[InstanceWebhook]("app", "App", lambda one: one.app.name),
    Column[InstanceWebhook]("targetUrl", "Target", lambda one: one.target_url, short=True),
    Column[InstanceWebhook]("isActive", "Active", lambda one: one.is_active, short=True),
    Column[InstanceWebhook]("events", "Events", lambda one: one.events),
)
WEBHOOK = (
    *WEBHOOKS,
    Column[InstanceWebhook]("appId", "App's id", lambda one: one.app.id),
    Column[InstanceWebhook]("customHeaders", "Headers", lambda one: sorted(one.custom_headers)),
    Column[InstanceWebhook]("hasSecret", "Has a secret", lambda one: one.has_secret),
    Column[InstanceWebhook]("query", "Query", lambda one: one.query, has_lines=True),
)


def with_secret(secret: str) -> tuple[Column[InstanceWebhook], ...]:
    """The columns right after ``secret`` was generated; it can't be shown later."""
    return (*WEBHOOK, Column[InstanceWebhook]("secretKey", "Secret", lambda _: secret, short=True))


DELIVERIES = (
    Column[InstanceDelivery]("id", "Id", lambda one: one.id, short=True),
    Column[InstanceDelivery]("createdAt", "Created", lambda one: one.created_at, short=True),
    Column[InstanceDelivery]("event", "Event", lambda one: one.event, short=True),
    Column[InstanceDelivery]("status", "Status", lambda one: one.status, short=True),
    Column[InstanceDelivery]("responseStatus", "Answer", _tried(lambda one: one.response_status)),
    Column[InstanceDelivery](
        "duration", "Seconds", _tried(lambda one: one.duration and round(one.duration, 3))
    ),
    Column[InstanceDelivery]("triedAt", "Tried", _tried(lambda one: one.created_at)),
)


def find_webhook(instance: Instance, text: str) -> InstanceWebhook:
    """Return the webhook with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    return _only(instance.webhooks(), text, "webhook", "See them: flask webhook list")


def find_app(instance: Instance, text: str) -> InstanceApp:
    """Return the app with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    apps = instance.apps()
    names = ", ".join(one.name for one in apps[:_MAX_NAMED])
    return _only(apps, text, "app", f"There are: {names}" if apps else "There is none yet.")


def _only(candidates: Sequence[Named], text: str, what: str, hint: str) -> Named:
    for one in candidates:
        if one.id == text:
            return one
    named = [one for one in candidates if one.name == text]
    if len(named) == 1:
        return named[0]
    if named:
        ids = ", ".join(one.id for one in named)
        message = "There are several with this name; give an id: {ids}"
        raise Refused(Problem("NOT_FOUND", message, what, values={"ids": ids}))
    message = "There is no such {what}. {hint}"
    raise Refused(Problem("NOT_FOUND", message, what, values={"what": what, "hint": hint}))


def payload_of(delivery: InstanceDelivery) -> Mapping[str, object] | None:
    """The payload as JSON; ``None`` where there was none to send."""
    payload = json.loads(delivery.payload) if delivery.payload else None
    return payload if isinstance(payload, dict) else None
