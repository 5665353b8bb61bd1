"""The outbox: events and emails written in the transaction that makes them true.

Payloads of events that carry a link's secret are encrypted while they wait. People see them
without it; the app that it was sent to, with it.
"""

import json
from dataclasses import fields, replace

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.languages import shipped_tag
from app.domain.authorization.actor import Actor
from app.domain.deliveries.redaction import REDACTED
from app.domain.events import EVENTS, Event, EventType, LinkRequested
from app.domain.keys import OUTBOX_EVENT, OUTBOX_MAIL, WEBHOOK_PAYLOAD
from app.domain.mails.mail import ASKED_AGAIN, MAX_WAIT, Mail, MailKind, MailSender, sender_setting
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.authorization.register import building_block

TRACEPARENT = "traceparent"
"""Where an event has the trace that it belongs to, next to its own fields."""

_SECRET = "token"  # noqa: S105


@building_block
def add_event(ports: Ports, actor: Actor, session: Session, event: Event) -> None:
    session.add(_outbox_event(ports, actor, event))


def _outbox_event(ports: Ports, actor: Actor, event: Event) -> models.OutboxEvent:
    data = {
        field.name: getattr(event, field.name)
        for field in fields(event)
        if field.name not in ("subject_id", _SECRET)
    }
    traceparent = ports.traces.traceparent()
    if traceparent:
        data[TRACEPARENT] = traceparent
    secret = (event.token or "") if isinstance(event, LinkRequested) else ""
    return models.OutboxEvent(
        type=event.type.value,
        subject_id=event.subject_id,
        data=data,
        sealed=ports.encryption.encrypt(OUTBOX_EVENT, secret) if secret else "",
        issued_at=ports.clock.now(),
        principal_type="User" if actor.is_user else "App" if actor.is_app else "",
        principal_id=actor.user_id if actor.is_user else actor.app_id,
        issuer=actor.issuer,
    )


@building_block
def add_mail(ports: Ports, session: Session, mail: Mail, *, user_id: int | None = None) -> None:
    """Queue ``mail``: it is sent after the transaction of ``session`` has been committed.

    ``user_id`` is the account it is about, which decides on its language and time zone.
    """
    session.add(_outbox_mail(ports, session, mail, user_id))


@building_block
def add_link_mail(
    ports: Ports,
    actor: Actor,
    session: Session,
    mail: Mail,
    event: LinkRequested,
    *,
    redirect_url: str = "",
) -> None:
    """Write the event that ``actor`` requested a link, and queue the email with the link.

    ``redirect_url`` is the page of the link, for the mail log. If an app sends this kind of mail,
    Latchkey's waits for it: ``app.services.mails.sending``.
    """
    shop = session.get_one(models.Shop, models.SHOP_ID)
    sender = MailSender(getattr(shop, sender_setting(mail.kind)))
    told = replace(event, mail_kind=mail.kind.value, mail_sender=sender.value)
    entry = _outbox_event(ports, actor, told)
    promised = _outbox_mail(ports, session, mail, event.subject_id, redirect_url)
    is_apps = sender is MailSender.APP
    if is_apps and not _asks_again(ports, session, mail.kind, event.subject_id):
        session.add(entry)
        session.flush()
        promised.awaited_event_id = entry.id
        promised.next_attempt_at = promised.created_at + MAX_WAIT
    session.add_all([entry, promised])


def _outbox_mail(
    ports: Ports, session: Session, mail: Mail, user_id: int | None, redirect_url: str = ""
) -> models.OutboxMail:
    now = ports.clock.now()
    reader = None if user_id is None else session.get(models.User, user_id)
    values = dict(mail.values)
    if reader is not None and reader.time_zone:
        values["time_zone"] = reader.time_zone
    return models.OutboxMail(
        kind=mail.kind.value,
        recipient=mail.recipient,
        user_id=user_id,
        redirect_url=redirect_url,
        sealed=ports.encryption.encrypt(OUTBOX_MAIL, json.dumps(values)),
        language_code=_language_of(session, reader, mail.language_code),
        created_at=now,
        next_attempt_at=now,
    )


def _language_of(session: Session, reader: models.User | None, wanted: str) -> str:
    """Return the language of a mail: its reader's, else ``wanted``, else the shop's.

    "" is English.
    """
    if reader is not None and shipped_tag(reader.language_code):
        return reader.language_code
    if reader is None and wanted and shipped_tag(wanted):
        return wanted
    shop = session.get_one(models.Shop, models.SHOP_ID)
    return shop.default_language if shipped_tag(shop.default_language) else ""


def _asks_again(ports: Ports, session: Session, kind: MailKind, user_id: int) -> bool:
    """Whether an app was to send such a mail a short while ago: it didn't help the person."""
    mail = models.OutboxMail
    recent = select(mail.id).where(
        mail.user_id == user_id,
        mail.kind == kind.value,
        mail.created_at > ports.clock.now() - ASKED_AGAIN,
        or_(mail.awaited_event_id.is_not(None), mail.sent_by != ""),
    )
    return session.scalar(recent.limit(1)) is not None


_WHOLE = f'"{REDACTED}"'
ENCRYPTED_PREFIX = "sealed:"
"""What no JSON text begins with."""


@building_block
def holds_secret(event: str) -> bool:
    """Return whether the payload of such an event can hold the secret of a link."""
    if event not in EVENTS:
        return True  # a later version's event: it may hold one
    return issubclass(EVENTS[EventType(event)], LinkRequested)


@building_block
def encrypted_payload(ports: Ports, event: str, payload: str) -> str:
    """Return the payload of such an event as stored."""
    if not payload or not holds_secret(event):
        return payload
    return ENCRYPTED_PREFIX + ports.encryption.encrypt(WEBHOOK_PAYLOAD, payload)


@building_block
def decrypted_payload(ports: Ports, stored: str) -> str:
    """Return the payload that was stored; raises ``DecryptionError`` under another SECRET_KEY."""
    if not stored.startswith(ENCRYPTED_PREFIX):
        return stored
    return ports.encryption.decrypt(WEBHOOK_PAYLOAD, stored.removeprefix(ENCRYPTED_PREFIX))


@building_block
def redacted_payload(ports: Ports, stored: str, secret: str | None) -> str:
    """Return the payload for people to see, without ``secret``; ``None`` redacts nothing."""
    try:
        payload = decrypted_payload(ports, stored)
    except DecryptionError:
        return _WHOLE
    return _redact_secret(payload, secret) if payload and secret is not None else payload


def _redact_secret(payload: str, secret: str) -> str:
    """Return ``payload`` without the secret; redacted completely if the secret is unknown.

    People who manage apps must not be able to use someone else's link.
    """
    return payload.replace(secret, REDACTED) if secret else _WHOLE
