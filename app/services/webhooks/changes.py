"""Create, change and delete webhooks: an app its own, people those of apps within reach.

A limited app token can't subscribe to events that carry links of accounts it has no permission
for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, Select, delete, false, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain import webhooks
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, in_order
from app.domain.events import EventType, LinkRequested, kinds_of
from app.domain.urls.web_urls import masked_url, target_problem
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import given_key, key_of
from app.domain.values.inputs import ABSENT, Absent, Seen, present, require_unchanged
from app.domain.values.text_rules import is_storable, line_problem
from app.ports import Ports
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import building_block, fresh_proof, staff_and_apps
from app.services.identity.stored_apps import stored_app
from app.services.webhooks.app_reach import (
    app_within_reach,
    next_saver,
    require_webhook_within_reach,
    require_within_limit,
)
from app.services.webhooks.stored_webhooks import change_webhook, read_webhooks, store_webhook

BATCH_SIZE = 1000
"""Deliveries deleted in one transaction, so that other writers don't wait long."""


@building_block
def remove_deliveries(ports: Ports, of: ColumnElement[bool]) -> None:
    """Remove the deliveries that ``of`` is true of, down to the last ``BATCH_SIZE``.

    For what is about to be deleted with them: the rest goes in the same transaction as that. Never
    inside one; a crash in between leaves a webhook whose oldest deliveries are forgotten, and
    which can be deleted again.
    """
    query = select(models.Delivery.id).where(of).order_by(models.Delivery.id).limit(BATCH_SIZE + 1)
    while True:
        with ports.database.transaction() as session:
            keys = session.scalars(query).all()
            if len(keys) <= BATCH_SIZE:
                return
            session.execute(
                delete(models.Delivery).where(models.Delivery.id.in_(keys[:BATCH_SIZE]))
            )


def _carries_links(events: Iterable[EventType]) -> bool:
    """Whether one of ``events`` carries a link that gives access to an account."""
    return any(issubclass(kind, LinkRequested) for kind in kinds_of(events))


def _require_own_events(actor: Actor, webhook: webhooks.Webhook) -> None:
    """Refuse INVALID to a limited app token for events whose permission it lacks.

    On ``asyncEvents`` or ``query``. What an app does with its own webhooks by a token without a
    limit is its own affair, and people hold all permissions of the app (``app_reach``).
    """
    if actor.token_limit is None:
        return
    field = "query" if webhook.query else "asyncEvents"
    if EventType.ANY_EVENTS in webhook.events:
        message = "A limited token can't subscribe to ANY_EVENTS. List the events instead."
        raise Refused(Problem("INVALID", message, field))
    lacking = {kind.permission for kind in kinds_of(webhook.events)} - actor.permissions
    if lacking:
        names = ", ".join(in_order(frozenset(lacking)))
        message = "These events need permissions that this token doesn't have: {names}."
        raise Refused(Problem("INVALID", message, field, values={"names": names}))


_MAX_SECRET_LENGTH = 512

_NOT_FOUND = "There is no such webhook."
_UNIQUE = Problem("UNIQUE", "Another webhook of this app has this identifier.", "identifier")


@dataclass(frozen=True, slots=True)
class WebhookInput:
    """The input of a webhook; absent fields stay.

    An empty name or secret counts as none; an empty query, too, and changes nothing: only
    ``drops_query`` removes a query. ``events`` count only without a query, which names its own.
    ``unsent_events`` are names of Saleor's that this service doesn't send, by the argument that
    has them: they are refused. While ``is_paused``, events wait. ``max_rate`` is requests a
    second; none and 0 are no limit.
    """

    name: str | Absent = ABSENT
    identifier: str | Absent = ABSENT
    target_url: str | Absent = ABSENT
    events: tuple[EventType, ...] | Absent = ABSENT
    sync_events: tuple[str, ...] = ()
    unsent_events: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_active: bool | Absent = ABSENT
    query: str | Absent = ABSENT
    drops_query: bool = False
    custom_headers: Mapping[str, object] | Absent = field(default=ABSENT, repr=False)
    secret_key: str | Absent = field(default=ABSENT, repr=False)
    is_paused: bool | Absent = ABSENT
    max_rate: int | Absent | None = ABSENT
    seen: Seen = field(default_factory=dict, repr=False, compare=False)


def _subscribes_to_links(
    ports: Ports, _actor: Actor, input_: WebhookInput, app_id: int | None = None
) -> bool:
    query, events = present(input_.query, ""), present(input_.events, ())
    return _carries_links(ports.payloads.check(query) if query else events)


@fresh_proof(
    "You're about to create a webhook that receives account links.",
    "for events that carry links",
    _subscribes_to_links,
)
@staff_and_apps
def create_webhook(
    ports: Ports, actor: Actor, input_: WebhookInput, app_id: int | None = None
) -> webhooks.Webhook:
    """Create a webhook (`webhookCreate`): an app's own, or any app's for staff with MANAGE_APPS.

    Raises ``PermissionDenied`` to staff who lack a permission of the app. Refuses REQUIRED and
    NOT_FOUND on ``app``, REQUIRED and INVALID on ``targetUrl``, the codes of the port ``Payloads``
    on ``query``, INVALID on ``syncEvents``, ``name`` and ``secretKey``, INVALID_CUSTOM_HEADERS,
    and UNIQUE on ``identifier``. A limited app token is refused events whose permission it lacks:
    INVALID on ``asyncEvents`` or ``query``.
    """
    owner = _owner(actor, app_id)
    if not actor.is_app:
        with ports.database.reading() as reading:
            webhooks.require_all_of_app(actor, stored_app(reading, owner, "app").permissions)
    now = ports.clock.now()
    empty = webhooks.Webhook(0, owner, "", "", "", True, "", (), (), now)  # noqa: FBT003
    webhook = replace(_applied(ports, empty, input_), saver=webhooks.saver_of(actor))
    try:
        with ports.database.transaction() as session:
            app_within_reach(session, actor, owner, "app")
            _require_own_events(actor, webhook)
            created = replace(webhook, id=store_webhook(ports, session, webhook))
            _audit(ports, actor, session, "webhook.create", None, created)
            return created
    except IntegrityError:
        raise Refused(_UNIQUE) from None


def _keeps_links(
    ports: Ports, actor: Actor, webhook_id: str | None, identifier: str, input_: WebhookInput
) -> str:
    if input_ in (WebhookInput(is_active=False), WebhookInput(is_paused=True)):
        return ""
    found, argument = _select_webhook(actor, webhook_id, identifier)
    with ports.database.reading() as session:
        _, before = _read_webhook(ports, session, found, argument)
    if not _carries_links((*before.events, *_events(ports, before, input_))):
        return ""
    if input_ == WebhookInput(is_paused=False):
        return "resume"
    return "enable" if input_ == WebhookInput(is_active=True) else "save"


@fresh_proof(
    {
        "enable": "You're about to enable a webhook that receives account links.",
        "resume": "You're about to resume a webhook that receives account links.",
        "save": "You're about to save a webhook that receives account links.",
    },
    "for events that carry links, unless it only disables or pauses",
    _keeps_links,
)
@staff_and_apps
def update_webhook(
    ports: Ports, actor: Actor, webhook_id: str | None, identifier: str, input_: WebhookInput
) -> webhooks.Webhook:
    """Change a webhook (`webhookUpdate`), found by its global id or by its app's own name for it.

    Raises ``PermissionDenied`` as ``create_webhook`` does. Refuses NOT_FOUND on ``id`` or
    ``identifier`` (another app's is none), GRAPHQL_ERROR on ``id`` for no id of a webhook or for
    both, else as ``create_webhook`` does; INVALID on ``id`` to a limited app token if it was saved
    with more. For a day after a secret was replaced, deliveries are signed with the old one, too.
    Switching it on forgets what it was switched off for. While it is paused, its deliveries wait;
    they are sent in order once it is resumed.
    """
    found, argument = _select_webhook(actor, webhook_id, identifier)
    with ports.database.reading() as session:
        # The query is read against the schema before anything is locked.
        _, webhook = _read_webhook(ports, session, found, argument)
        require_webhook_within_reach(session, actor, webhook.id)
    _applied(ports, webhook, input_)
    try:
        with ports.database.transaction() as session:
            app_within_reach(session, actor, webhook.app_id, argument)
            stored, before = _read_webhook(ports, session, found.with_for_update(), argument)
            require_within_limit(actor, before, argument)
            require_unchanged(input_.seen, webhooks.editable_facts(before))
            after = _applied(ports, before, input_)
            after = replace(after, saver=next_saver(actor, before, after))
            _require_own_events(actor, after)
            change_webhook(ports, session, stored, before, after)
            _audit(ports, actor, session, "webhook.update", before, after)
    except IntegrityError:
        raise Refused(_UNIQUE) from None
    if before.is_paused and not after.is_paused:
        ports.work_signal.send()
    return after


@staff_and_apps
def delete_webhook(
    ports: Ports, actor: Actor, webhook_id: str | None, identifier: str = ""
) -> webhooks.Webhook:
    """Remove a webhook with its deliveries (`webhookDelete`); returns what it was.

    Refuses NOT_FOUND and GRAPHQL_ERROR, a limited app token and people who lack a permission of
    the app as ``update_webhook`` does. However many deliveries there are, others write meanwhile.
    """
    found, argument = _select_webhook(actor, webhook_id, identifier)
    with ports.database.reading() as session:
        _, known = _read_webhook(ports, session, found, argument)
        require_webhook_within_reach(session, actor, known.id)
    require_within_limit(actor, known, argument)
    remove_deliveries(ports, models.Delivery.webhook_id == known.id)
    with ports.database.transaction() as session:
        stored, webhook = _read_webhook(ports, session, found.with_for_update(), argument)
        require_within_limit(actor, webhook, argument)
        require_webhook_within_reach(session, actor, webhook.id)
        session.delete(stored)
        _audit(ports, actor, session, "webhook.delete", webhook, None)
        return webhook


def _owner(actor: Actor, app_id: int | None) -> int:
    if actor.is_app and actor.app_id is not None:
        if app_id not in (None, actor.app_id):
            raise Refused(Problem("NOT_FOUND", "App not found.", "app"))
        return actor.app_id
    if not actor.holds(Permission.MANAGE_APPS):
        raise PermissionDenied(Permission.MANAGE_APPS)
    if app_id is None:
        raise Refused(Problem("REQUIRED", "Choose the app that owns the webhook.", "app"))
    return app_id


def _select_webhook(
    actor: Actor, webhook_id: str | None, identifier: str
) -> tuple[Select[models.Webhook], str]:
    """Select the webhook that is meant, among those that the caller can manage; by which argument.

    Refuses GRAPHQL_ERROR on ``id`` for what is not an ID of one, for neither, and for both.
    """
    if not actor.is_app and not actor.holds(Permission.MANAGE_APPS):
        raise PermissionDenied(Permission.MANAGE_APPS)
    argument = given_key(id=webhook_id, identifier=identifier or None)
    if webhook_id is None and not identifier:
        raise Refused(Problem("GRAPHQL_ERROR", "Give the id of a webhook.", argument))
    query = select(models.Webhook)
    if argument == "identifier":
        # No database can be asked for what it cannot hold.
        named = models.Webhook.identifier == identifier if is_storable(identifier) else false()
        query = query.where(named).limit(2)
    else:
        key = key_of(webhook_id or "", "Webhook", code="GRAPHQL_ERROR")
        query = query.where(models.Webhook.id == key)
    return query.where(models.Webhook.app_id == actor.app_id) if actor.is_app else query, argument


def _read_webhook(
    ports: Ports, session: Session, query: Select[models.Webhook], argument: str
) -> tuple[models.Webhook, webhooks.Webhook]:
    """Return the webhook of ``query``, as it is stored and as its value; refuse none and two."""
    stored = session.scalars(query).all()
    if not stored:
        raise Refused(Problem("NOT_FOUND", _NOT_FOUND, argument))
    if len(stored) > 1:
        message = "Several apps have a webhook with this identifier. Use the webhook's ID."
        raise Refused(Problem("GRAPHQL_ERROR", message, argument))
    return stored[0], read_webhooks(ports, session, stored)[0]


def _applied(ports: Ports, before: webhooks.Webhook, input_: WebhookInput) -> webhooks.Webhook:
    """Return ``before`` with the input's fields; refuse what can't be."""
    headers = present(input_.custom_headers, {})
    after = replace(
        before,
        name=present(input_.name, before.name).strip(),
        identifier=present(input_.identifier, before.identifier).strip(),
        target_url=present(input_.target_url, before.target_url).strip(),
        is_active=present(input_.is_active, before.is_active),
        query="" if input_.drops_query else present(input_.query, "") or before.query,
        paused_at=_paused_at(ports, before, input_),
        max_rate=present(input_.max_rate, before.max_rate) or 0,
    )
    if not isinstance(input_.secret_key, Absent):
        after = replace(
            after, has_secret=bool(input_.secret_key), reveal=partial(str, input_.secret_key)
        )
    problems = [
        _target_problem(ports, before, after, input_),
        line_problem(after.name, "name"),
        line_problem(after.identifier, "identifier"),
        line_problem(present(input_.secret_key, ""), "secretKey", max_length=_MAX_SECRET_LENGTH),
        webhooks.query_problem(after.query),
        webhooks.rate_problem(after.max_rate),
        webhooks.sync_events_problem(input_.sync_events),
        *(
            webhooks.unsent_events_problem(names, name)
            for name, names in input_.unsent_events.items()
        ),
        webhooks.headers_problem(headers),
    ]
    refuse_any(*problems)
    if not isinstance(input_.custom_headers, Absent):
        texts = {name: str(value) for name, value in headers.items()}
        after = replace(after, header_names=tuple(texts), reveal_headers=partial(dict, texts))
    return replace(after, events=_events(ports, before, input_))


def _paused_at(ports: Ports, before: webhooks.Webhook, input_: WebhookInput) -> datetime | None:
    is_paused = present(input_.is_paused, before.is_paused)
    return (before.paused_at or ports.clock.now()) if is_paused else None


def _target_problem(
    ports: Ports, before: webhooks.Webhook, after: webhooks.Webhook, input_: WebhookInput
) -> Problem | None:
    """Check the target if it is given, or if the webhook is being enabled.

    A webhook whose network is no longer allowed can still be disabled.
    """
    is_switched_on = after.is_active and not before.is_active
    if before.target_url and input_.target_url is ABSENT and not is_switched_on:
        return None
    return target_problem(after.target_url, ports.configuration.outgoing_allowed_networks)


def _events(ports: Ports, before: webhooks.Webhook, input_: WebhookInput) -> tuple[EventType, ...]:
    query = present(input_.query, "")
    if query:
        return ports.payloads.check(query)
    if before.query and not input_.drops_query:
        return before.events
    return present(input_.events, before.events)


def _audit(
    ports: Ports,
    actor: Actor,
    session: Session,
    action: str,
    before: webhooks.Webhook | None,
    after: webhooks.Webhook | None,
) -> None:
    facts = [{} if side is None else webhooks.facts_of(side) for side in (before, after)]
    sides = [
        {name: _recorded(name, value) for name, value in side.items()}
        for side in differing(*facts)
    ]
    webhook = after or before
    if webhook is not None:
        label = webhook.name or masked_url(webhook.target_url)
        record(ports, actor, session, Change(action, "Webhook", webhook.id, label, *sides))


def _recorded(name: str, value: object) -> object:
    return masked_url(str(value)) if name == "target_url" else value
