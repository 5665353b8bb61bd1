"""Entries of the sign-in log."""

from sqlalchemy import select

from app import models
from app.ports import Ports
from tests.builders.people import ADDRESS


def stored_sign_ins(ports: Ports) -> list[models.SignInEvent]:
    """The entries that are stored, in the order in which they were written."""
    with ports.database.reading() as session:
        return list(session.scalars(select(models.SignInEvent).order_by(models.SignInEvent.id)))


def make_sign_in(ports: Ports, **values: object) -> int:
    """Store an entry of now, a customer's successful one but for ``values``; returns its key."""
    now = ports.clock.now()
    kept = {
        "at": now,
        "first_at": now,
        "attempts": 1,
        "method": "PASSWORD",
        "account_type": "CUSTOMER",
        "address": ADDRESS,
        "device": "Safari on iPhone",
    }
    with ports.database.transaction() as session:
        entry = models.SignInEvent(**{**kept, **values})
        session.add(entry)
        session.flush()
        return entry.id
