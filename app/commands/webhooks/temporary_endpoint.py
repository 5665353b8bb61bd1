"""A webhook for the time of ``flask webhook listen``, removed at its end."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from app.commands.terminal.exit_codes import failure_of
from app.commands.terminal.interruptions import ended_by_signals
from app.domain.events import EVENTS, EventType, LinkRequested
from app.domain.values.inputs import ABSENT
from app.domain.webhooks import (
    MAX_TEMPORARY_AGE,
    TEMPORARY_NAME,
    TEMPORARY_URL,
    has_own_app,
    is_temporary,
    required_permission,
)
from app.ports.instance import Instance, InstanceApp, InstanceWebhook, WebhookDraft

_NO_APP_HOLDS = "MANAGE_APPS"
_DEFAULT_EVENTS = tuple(
    event.value for event, kind in EVENTS.items() if not issubclass(kind, LinkRequested)
)
"""All but those whose links give access to an account."""


@contextmanager
def temporary_endpoint(
    instance: Instance, events: Sequence[str], secret: str, say: Callable[[str], None]
) -> Iterator[InstanceWebhook]:
    """Create a webhook for ``events``, by default all that the caller can receive.

    ``secret`` signs its deliveries, or the shop's keys if it is empty. It belongs to an app of its
    own, or to the app whose token is used. It is deleted at the end of the block, also at SIGTERM
    and SIGHUP, or else by a later call or the worker's cleanup.
    """
    with ended_by_signals():
        own_app = instance.own_app()
        for app in instance.apps() if own_app is None else ():
            if _is_abandoned(app.name):
                instance.delete_app(app)
        owner = own_app or instance.create_app(_name(), _permissions(instance, events))
        try:
            yield instance.create(owner.id, _draft(owner, events, secret))
        finally:
            _remove(instance, owner, say)


def remove_abandoned(
    instance: Instance, webhooks: Iterable[InstanceWebhook]
) -> list[InstanceWebhook]:
    """Return ``webhooks`` without temporary endpoints; delete those of ended processes here."""
    others = []
    for webhook in webhooks:
        if not is_temporary(webhook.target_url):
            others.append(webhook)
        elif _is_abandoned(webhook.name):
            _delete(instance, webhook)
    return others


def _draft(owner: InstanceApp, events: Sequence[str], secret: str) -> WebhookDraft:
    held = owner.permissions or frozenset()
    chosen = events or [name for name in _DEFAULT_EVENTS if required_permission(name) in held]
    return WebhookDraft(
        name=_name(),
        target_url=TEMPORARY_URL,
        events=tuple(chosen),
        secret_key=secret or ABSENT,
    )


def _permissions(instance: Instance, events: Sequence[str]) -> set[str]:
    """Return what an app needs for ``events``, as far as the caller can grant it."""
    is_any = EventType.ANY_EVENTS.value in events
    names = _DEFAULT_EVENTS if is_any or not events else events
    needed = {permission for name in names if (permission := required_permission(name))}
    return (needed & instance.permissions()) - {_NO_APP_HOLDS}


def _remove(instance: Instance, owner: InstanceApp, say: Callable[[str], None]) -> None:
    try:
        if owner.name == _name():
            instance.delete_app(owner)
            return
        for webhook in instance.webhooks():
            if is_temporary(webhook.target_url) and webhook.name == _name():
                instance.delete(webhook)
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        hours = round(MAX_TEMPORARY_AGE.total_seconds() / 3600)
        say(
            f"The temporary endpoint wasn't removed: {failure.errors[0].message} The next `flask "
            f"webhook listen` removes it, or the worker after {hours} hours."
        )


def _delete(instance: Instance, webhook: InstanceWebhook) -> None:
    if has_own_app(webhook.name, webhook.app.name):
        instance.delete_app(webhook.app)
    else:
        instance.delete(webhook)


def _name() -> str:
    return f"flask webhook listen (temporary, {_machine()}-{os.getpid()})"


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _is_abandoned(name: str) -> bool:
    """Return whether ``name`` is that of an endpoint whose process has ended on this machine."""
    match = TEMPORARY_NAME.fullmatch(name)
    if match is None or match[1] != _machine():
        return False
    try:
        os.kill(int(match[2]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # it runs, for another user
    return False
