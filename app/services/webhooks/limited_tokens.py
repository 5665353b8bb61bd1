"""Webhooks that a limited app token can change and see whole: those saved with no more rights.

A limited token has the rights that it was limited to, also by way of a webhook.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from app.domain.authorization.actor import Actor
from app.domain.deliveries.redaction import REDACTED
from app.domain.values.errors import Problem, Refused
from app.domain.webhooks import Saver, Webhook, is_within_limit, saver_of
from app.services.authorization.register import part


@part
def require_within_limit(actor: Actor, webhook: Webhook, field: str = "id") -> None:
    """Refuse a limited app token INVALID on ``field`` for a webhook that was saved with more."""
    if is_within_limit(actor, webhook.saver):
        return
    message = (
        "This webhook was saved with permissions that this token doesn't have. Use a token of the "
        "app that isn't limited."
    )
    raise Refused(Problem("INVALID", message, field))


@part
def visible_webhook(actor: Actor, webhook: Webhook) -> Webhook:
    """``webhook`` as ``actor`` may see it: without secrets for a token that may not change it."""
    if is_within_limit(actor, webhook.saver):
        return webhook
    hidden: Mapping[str, str] = dict.fromkeys(webhook.header_names, REDACTED)
    return replace(webhook, reveal=str, reveal_headers=partial(dict, hidden))


@part
def next_saver(actor: Actor, before: Webhook, after: Webhook) -> Saver:
    """Return who counts as the saver of ``after``, which ``actor`` changes from ``before``.

    The limit of an app token stays when a person changes neither the payload nor the target:
    enabling a webhook must not widen its payloads.
    """
    is_same = after.target_url == before.target_url and after.query == before.query
    is_same = is_same and frozenset(after.events) == frozenset(before.events)
    if is_same and before.saver.token_limit is not None and not actor.is_app:
        return before.saver
    return saver_of(actor)
