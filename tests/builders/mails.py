"""Entries of the mail log."""

from sqlalchemy import select

from app import models
from app.ports import Ports


def stored_mails(ports: Ports) -> list[models.OutboxMail]:
    """The emails of the outbox, in the order in which they were promised."""
    with ports.database.reading() as session:
        return list(session.scalars(select(models.OutboxMail).order_by(models.OutboxMail.id)))


def make_mail(ports: Ports, **values: object) -> int:
    """Store an email of now, sent at once but for ``values``; returns its key."""
    now = ports.clock.now()
    kept = {
        "kind": "password_reset",
        "recipient": "clara@example.com",
        "sealed": "",
        "created_at": now,
        "attempts": 1,
        "attempted_at": now,
        "sent_at": now,
    }
    with ports.database.transaction() as session:
        mail = models.OutboxMail(**{**kept, **values})
        session.add(mail)
        session.flush()
        return mail.id


def make_waiting_mail(ports: Ports, **values: object) -> int:
    """Store an email that waits for its first attempt."""
    now = ports.clock.now()
    waiting = {"attempts": 0, "attempted_at": None, "sent_at": None, "next_attempt_at": now}
    return make_mail(ports, **{**waiting, **values})
