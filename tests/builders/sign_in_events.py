"""Entries of the sign-in log."""

from sqlalchemy import select

from app.models import SignInEventRecord
from app.ports import Ports


def stored_sign_ins(ports: Ports) -> list[SignInEventRecord]:
    """The entries that are stored, in the order in which they were written."""
    with ports.database.reading() as session:
        return list(session.scalars(select(SignInEventRecord).order_by(SignInEventRecord.id)))
