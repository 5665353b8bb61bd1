"""Mails and events in the outbox."""

import json
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import select

from app import models
from app.domain.keys import OUTBOX_EVENT, OUTBOX_MAIL
from app.domain.mails.mail import Mail, MailKind
from app.ports import Ports


@dataclass(frozen=True, slots=True)
class Promised:
    """An event in the outbox; ``token`` is the secret of its link."""

    type: str
    subject_id: int
    data: dict[str, object]
    token: str
    principal: tuple[str, int | None]


def mails(ports: Ports, *kinds: MailKind) -> list[Mail]:
    """Return the mails in the outbox, the oldest first; all kinds, or only these.

    Mails without content, which are only entries of the mail log, are left out.
    """
    query = select(models.OutboxMail).where(models.OutboxMail.sealed != "")
    with ports.database.reading() as session:
        records = session.scalars(query.order_by(models.OutboxMail.id)).all()
    found = [
        Mail(
            MailKind(record.kind),
            record.recipient,
            json.loads(ports.encryption.decrypt(OUTBOX_MAIL, record.sealed)),
        )
        for record in records
    ]
    return [mail for mail in found if not kinds or mail.kind in kinds]


def events(ports: Ports) -> list[Promised]:
    """Return the events in the outbox, the oldest first."""
    with ports.database.reading() as session:
        records = session.scalars(select(models.OutboxEvent).order_by(models.OutboxEvent.id)).all()
    return [
        Promised(
            type=record.type,
            subject_id=record.subject_id,
            data=record.data,
            token=ports.encryption.decrypt(OUTBOX_EVENT, record.sealed) if record.sealed else "",
            principal=(record.principal_type, record.principal_id),
        )
        for record in records
    ]


def token_in(mail: Mail) -> str:
    """Return the token of the link in ``mail``."""
    (token,) = parse_qs(urlsplit(mail.values["link"]).query)["token"]
    return token
