"""What an app or a person lacks: events not received, webhooks not seen."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from app.console.frame.errors import Granter, make_granters
from app.domain.apps.apps import grantable_problem
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, in_order
from app.domain.events import EventType
from app.domain.values.errors import Refused
from app.domain.webhooks import not_permitted
from app.ports import Ports
from app.services.identity.permission_holders import list_permission_granters
from app.services.webhooks.app_reach import WebhooksNotConfirmed
from app.web.translation import enumeration, problem_text, reasons_text, text


@dataclass(frozen=True, slots=True)
class MissingPermissions:
    """What an app doesn't receive, and the permissions it lacks.

    ``grant`` names the act of granting them; it is empty if the viewer can't.
    """

    permissions: frozenset[Permission]
    title: str
    detail: str
    grant: str


def missing_permissions(
    actor: Actor, app_name: str, events: Collection[EventType], held: Collection[Permission]
) -> MissingPermissions | None:
    """Return what an app that holds ``held`` lacks to receive ``events``, if anything."""
    found = not_permitted(events, held)
    if not found:
        return None
    lacking = frozenset(map(Permission, found))
    labels = enumeration([text(permission.label) for permission in in_order(lacking)])
    missed = [text(EventType(name).label) for names in found.values() for name in names]
    is_any = EventType.ANY_EVENTS in events
    can_grant = grantable_problem(lacking) is None and all(map(actor.holds, lacking))
    return MissingPermissions(
        permissions=lacking,
        title=text("{app} doesn't receive any events.", app=app_name)
        if is_any
        else text("{app} doesn't receive {events}.", app=app_name, events=_quoted(missed)),
        detail=_detail(labels, lacking, can_grant=can_grant, is_any=is_any),
        grant=text("Grant {permissions}", permissions=labels) if can_grant and not is_any else "",
    )


@dataclass(frozen=True, slots=True)
class WithheldNote:
    """Why a person can't see or change a webhook, and who can give them the permissions."""

    detail: str
    granters: tuple[Granter, ...]


def withheld_note(
    ports: Ports, actor: Actor, app_name: str, lacking: tuple[Permission, ...], now: datetime
) -> WithheldNote | None:
    """Return the note for a person who lacks these permissions of the app, ``None`` for none."""
    if not lacking:
        return None
    granters = list_permission_granters(ports, actor, lacking)
    labels = enumeration([text(permission.label) for permission in lacking])
    detail = text(
        "This webhook can receive everything that {app} can read. To change it or see what it "
        "sends, you also need these permissions: {permissions}.",
        app=app_name,
        permissions=labels,
    )
    return WithheldNote(detail, make_granters(lacking, granters, now))


def refusal_text(refused: Refused) -> str:
    """Return why permissions weren't granted, as a message that stands alone."""
    if not isinstance(refused, WebhooksNotConfirmed):
        return reasons_text(refused)
    reasons = [problem_text(webhook.problem) for webhook in refused.webhooks]
    return " ".join([*reasons, text("Save the webhook yourself or delete it first.")])


def _detail(labels: str, lacking: frozenset[Permission], *, can_grant: bool, is_any: bool) -> str:
    if is_any:
        return text("The app has no permission that an event requires.")
    if grantable_problem(lacking) is not None:
        return text("No app can receive events about apps.")
    if can_grant:
        return text("The app needs the permission {permissions}.", permissions=labels)
    return text(
        "The app needs the permission {permissions}, which you can't grant because you don't have "
        "it yourself.",
        permissions=labels,
    )


def _quoted(labels: list[str]) -> str:
    return enumeration([text("“{event}”", event=label) for label in labels])
