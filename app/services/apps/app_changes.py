"""Change apps, and activate or deactivate them, as people do: no app ever manages one.

Granting permissions for a webhook's events is such a change, also when it comes with the webhook.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.emails import email_problem
from app.domain.apps.apps import App, AppType, NewAppToken, grantable_problem
from app.domain.authorization.actor import Actor, app_grant_problem
from app.domain.authorization.permissions import Permission
from app.domain.events import AppDeleted, AppInstalled, AppStatusChanged, AppUpdated, EventType
from app.domain.values.errors import Problem, ProofRequired, Refused, refuse_any
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT, Absent, Seen, present, require_unchanged
from app.domain.values.text_rules import line_problem
from app.domain.webhooks import Webhook, not_permitted
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    needs_proof,
    requires,
    requires_person,
)
from app.services.identity.stored_apps import (
    app_snapshot,
    locked_app,
    locked_app_of_any_scope,
    refuse_apps,
    store_token,
    stored_app,
)
from app.services.outbox.publisher import add_event
from app.services.webhooks.app_reach import confirm_webhooks
from app.services.webhooks.changes import (
    WebhookInput,
    create_webhook,
    remove_deliveries,
    update_webhook,
)
from app.services.webhooks.payloads import check_query

_UNIQUE = Problem("UNIQUE", "This identifier is already in use.", "identifier")


@dataclass(frozen=True, slots=True)
class NewApp:
    """An app to be made here, active at once."""

    name: str
    permissions: frozenset[Permission] = frozenset()
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class CreatedApp:
    """A new app, and its first token."""

    app: App
    token: NewAppToken


@dataclass(frozen=True, slots=True)
class AppChange:
    """A change of an app; absent fields stay.

    What isn't as ``seen`` anymore makes ``Stale``, by the names of ``app_facts``.
    """

    name: str | Absent = ABSENT
    identifier: str | Absent = ABSENT
    permissions: frozenset[Permission] | Absent = ABSENT
    contact_email: str | Absent = ABSENT
    client_credentials_only: bool | Absent = ABSENT
    added_permissions: frozenset[Permission] = frozenset()
    seen: Seen = field(default_factory=dict, compare=False)

    def permissions_after(self, before: frozenset[Permission]) -> frozenset[Permission]:
        """Return the permissions of an app that had ``before``."""
        return present(self.permissions, before) | self.added_permissions


@fresh_proof(
    "You're about to create an app with permissions.",
    "with permissions",
    lambda _ports, _actor, new: bool(new.permissions),
)
@requires_person(Permission.MANAGE_APPS)
def create_app(ports: Ports, actor: Actor, new: NewApp) -> CreatedApp:
    """Make an app and its first token (`appCreate`).

    Refuses REQUIRED and INVALID on ``name``, INVALID and UNIQUE on ``identifier``,
    OUT_OF_SCOPE_PERMISSION on ``permissions`` for what the caller does not hold, and for
    MANAGE_APPS, which no app can hold.
    """
    name, identifier = new.name.strip(), new.identifier.strip()
    _check(actor, name, identifier, new.permissions)
    try:
        with ports.database.transaction() as session:
            return _store(ports, actor, session, NewApp(name, new.permissions, identifier))
    except IntegrityError:
        _refuse_taken(ports, identifier)
        raise


def _grants(
    ports: Ports, _actor: Actor, app_id: int, change: AppChange, *, confirmed: bool = False
) -> str:
    """Return what a change gives to an app: permissions, or its refused tokens."""
    with ports.database.reading() as session:
        app = stored_app(session, app_id, "id")
    if change.permissions_after(app.permissions) - app.permissions:
        return "permissions"
    is_refusing = app.client_credentials_only
    return "tokens" if is_refusing and change.client_credentials_only is False else ""


@fresh_proof(
    {
        "permissions": "You're about to give an app more permissions.",
        "tokens": "You're about to let an app's tokens work again.",
    },
    "when it adds permissions or lets long-lived tokens work again",
    _grants,
)
@requires(Permission.MANAGE_APPS)
def update_app(
    ports: Ports, actor: Actor, app_id: int, change: AppChange, *, confirmed: bool = False
) -> App:
    """Change an app's name, identifier, permissions, contact or tokens (`appUpdate`) at once.

    Refuses INVALID on ``contactEmail``; NOT_FOUND on ``id``; OUT_OF_SCOPE_APP on it to an app, and
    for an app that may do what the caller may not; else as ``create_app`` does. Unless
    ``confirmed``, refuses OUT_OF_SCOPE_PERMISSION on ``permissions`` (``WebhooksNotConfirmed``)
    where a webhook would be sent what the person who saved it couldn't read.
    """
    refuse_apps(actor, "id")
    try:
        with ports.database.transaction() as session:
            app = locked_app(session, actor, app_id, "id")
            require_unchanged(change.seen, app_facts(app))
            added = change.permissions_after(app.permissions) - app.permissions
            updated = _update(ports, actor, session, app, change)
            confirm_webhooks(ports, actor, session, app_id, added, confirmed=confirmed)
            return updated
    except IntegrityError:
        _refuse_taken(ports, present(change.identifier, "").strip(), app_id)
        raise


@requires(Permission.MANAGE_APPS)
def grant_events(ports: Ports, actor: Actor, app_id: int, events: Iterable[EventType]) -> App:
    """Grant an app the permissions that it lacks to receive ``events``.

    Refuses what ``update_app`` does.
    """
    with ports.database.reading() as session:
        app = stored_app(session, app_id, "id")
    change = _receiving(app, events)
    return app if change is None else update_app(ports, actor, app_id, change)


def _receiving(app: App, events: Iterable[EventType]) -> AppChange | None:
    """Return the change by which ``app`` receives ``events``; ``None`` if it does already."""
    lacking = frozenset(map(Permission, not_permitted(tuple(events), app.permissions)))
    return AppChange(added_permissions=lacking) if lacking else None


@dataclass(frozen=True, slots=True)
class SavedWebhook:
    """A webhook that was saved; ``not_granted`` is why its app wasn't granted permissions."""

    webhook: Webhook
    not_granted: Refused | None = None


@requires_person(Permission.MANAGE_APPS)
def save_webhook(
    ports: Ports,
    actor: Actor,
    input_: WebhookInput,
    app_id: int | None,
    webhook_id: int | None = None,
    *,
    grants: bool = False,
) -> SavedWebhook:
    """Create a webhook of an app or change it; with ``grants``, let the app receive its events.

    Refuses what ``create_webhook`` and ``update_webhook`` do. Raises ``ProofRequired`` before
    anything is saved, also for what ``update_app`` would ask it for.
    """
    if grants and app_id is not None:
        _require_proof_of_grant(ports, actor, input_, app_id)
    if webhook_id is None:
        webhook = create_webhook(ports, actor, input_, app_id)
    else:
        key = to_global_id("Webhook", webhook_id)
        webhook = update_webhook(ports, actor, key, "", input_)
    try:
        if grants:
            grant_events(ports, actor, webhook.app_id, webhook.events)
    except Refused as refused:
        return SavedWebhook(webhook, refused)
    return SavedWebhook(webhook)


def _require_proof_of_grant(ports: Ports, actor: Actor, input_: WebhookInput, app_id: int) -> None:
    query = present(input_.query, "")
    events = check_query(ports, actor, query).events if query else present(input_.events, ())
    with ports.database.reading() as session:
        change = _receiving(stored_app(session, app_id, "app"), events)
    act = "" if change is None else needs_proof(ports, actor, update_app, app_id, change)
    if act:
        raise ProofRequired(act)


@requires(Permission.MANAGE_APPS)
def delete_app(ports: Ports, actor: Actor, app_id: int) -> App:
    """Remove an app with its tokens, webhooks and extensions (`appDelete`); returns what it was.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``id``, the latter as ``update_app`` does.
    """
    refuse_apps(actor, "id")
    with ports.database.transaction() as session:
        locked_app(session, actor, app_id, "id")
    hooks = select(models.Webhook.id).where(models.Webhook.app_id == app_id)
    remove_deliveries(ports, models.Delivery.webhook_id.in_(hooks))
    with ports.database.transaction() as session:
        app = locked_app(session, actor, app_id, "id")
        session.execute(delete(models.App).where(models.App.id == app_id))
        add_event(ports, actor, session, AppDeleted(app_id, snapshot=app_snapshot(app)))
        before = {"is_active": app.is_active, "permissions": _names(app.permissions)}
        change = Change("app.delete", "App", app_id, app.name, before=before)
        record(ports, actor, session, change)
        return app


def _check(actor: Actor, name: str, identifier: str, permissions: frozenset[Permission]) -> None:
    problems = [
        line_problem(name, "name"),
        line_problem(identifier, "identifier"),
        app_grant_problem(actor, permissions),
        grantable_problem(permissions),
    ]
    if not name:
        problems.append(Problem("REQUIRED", "Enter a name.", "name"))
    refuse_any(*problems)


def _store(ports: Ports, actor: Actor, session: Session, new: NewApp) -> CreatedApp:
    if _is_taken(session, new.identifier):
        raise Refused(_UNIQUE)
    app = models.App(
        name=new.name,
        identifier=new.identifier,
        type=AppType.LOCAL.value,
        created_at=ports.clock.now(),
    )
    session.add(app)
    session.flush()
    _grant(session, app.id, new.permissions)
    token = store_token(ports, session, app.id, "Default")
    add_event(ports, actor, session, AppInstalled(app.id))
    after = {"permissions": _names(new.permissions)}
    record(ports, actor, session, Change("app.create", "App", app.id, new.name, after=after))
    return CreatedApp(stored_app(session, app.id, "id"), token)


def _update(ports: Ports, actor: Actor, session: Session, app: App, change: AppChange) -> App:
    name = present(change.name, app.name).strip()
    identifier = present(change.identifier, app.identifier).strip()
    permissions = change.permissions_after(app.permissions)
    contact = present(change.contact_email, app.contact_email).strip()
    _check(actor, name, identifier, permissions - app.permissions)
    if contact != app.contact_email and contact:
        refuse_any(email_problem(contact, "contactEmail"))
    if identifier != app.identifier and _is_taken(session, identifier):
        raise Refused(_UNIQUE)
    only = present(change.client_credentials_only, app.client_credentials_only)
    kept = (app.name, app.identifier, app.permissions, app.contact_email)
    before = (*kept, app.client_credentials_only)
    if (name, identifier, permissions, contact, only) == before:
        return app
    stored = session.get_one(models.App, app.id)
    stored.name, stored.identifier, stored.contact_email = name, identifier, contact
    stored.client_credentials_only = only
    if permissions != app.permissions:
        session.execute(delete(models.AppPermission).where(models.AppPermission.app_id == app.id))
        _grant(session, app.id, permissions)
    session.flush()
    add_event(ports, actor, session, AppUpdated(app.id))
    updated = stored_app(session, app.id, "id")
    differing = Change(
        "app.update", "App", app.id, name, before=app_facts(app), after=app_facts(updated)
    )
    record(ports, actor, session, differing)
    return updated


def _grant(session: Session, app_id: int, permissions: frozenset[Permission]) -> None:
    session.add_all(
        models.AppPermission(app_id=app_id, permission=permission.value)
        for permission in permissions
    )


@building_block
def app_facts(app: App) -> dict[str, object]:
    """Return what ``update_app`` changes of an app, as the audit log has it."""
    return {
        "name": app.name,
        "identifier": app.identifier,
        "permissions": _names(app.permissions),
        "contact_email": app.contact_email,
        "client_credentials_only": app.client_credentials_only,
    }


def _names(permissions: frozenset[Permission]) -> list[str]:
    return sorted(permission.value for permission in permissions)


def _is_taken(session: Session, identifier: str, but: int | None = None) -> bool:
    if not identifier:
        return False
    having = select(models.App.id).where(models.App.identifier == identifier, models.App.id != but)
    return session.scalar(having) is not None


def _refuse_taken(ports: Ports, identifier: str, but: int | None = None) -> None:
    """Refuse UNIQUE when another transaction stored the same identifier first."""
    with ports.database.reading() as session:
        if _is_taken(session, identifier, but):
            raise Refused(_UNIQUE) from None


@requires_person(Permission.MANAGE_APPS)
def activate_app(ports: Ports, actor: Actor, app_id: int) -> App:
    """Activate an app (`appActivate`), also one with permissions that the caller lacks.

    Refuses NOT_FOUND on ``id``.
    """
    return _set_active(ports, actor, app_id, active=True)


@requires_person(Permission.MANAGE_APPS)
def deactivate_app(ports: Ports, actor: Actor, app_id: int) -> App:
    """Deactivate an app (`appDeactivate`), effective from the next request of its tokens.

    Works also for an app with permissions that the caller lacks. Refuses NOT_FOUND on ``id``.
    """
    return _set_active(ports, actor, app_id, active=False)


def _set_active(ports: Ports, actor: Actor, app_id: int, *, active: bool) -> App:
    with ports.database.transaction() as session:
        app = locked_app_of_any_scope(session, app_id, "id")
        if app.is_active is active:
            return app
        session.get_one(models.App, app_id).is_active = active
        session.flush()
        add_event(ports, actor, session, AppStatusChanged(app_id))
        change = Change(
            "app.activate" if active else "app.deactivate",
            "App",
            app_id,
            app.name,
            before={"is_active": not active},
            after={"is_active": active},
        )
        record(ports, actor, session, change)
        return stored_app(session, app_id, "id")
