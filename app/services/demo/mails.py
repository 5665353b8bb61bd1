"""The demo shop's mail log."""

from collections.abc import Iterator, Mapping

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.mails.mail import MailKind
from app.models import OutboxMailRecord
from app.services.authorization.register import part
from app.services.demo.people import PEOPLE, Person, made_here
from app.services.demo.sign_ins import FORGETFUL
from app.services.demo.timeline import DAY, Past

_KEPT = 80 * DAY
_UNKNOWN = "The mail server rejected the recipient with 550: 5.1.1 Mailbox does not exist."
_SECONDS = 1 / 3600

MAIL_APP = "Newsletter"
"""The app that sent some confirmations."""

Row = dict[str, object]


@part
def write_mails(past: Past, session: Session) -> None:
    """Write emails of the last weeks, all sent or failed: the worker sends none of them."""
    keys = made_here(session, [person.email for person in PEOPLE])
    known = [person for person in PEOPLE if person.email in keys]
    rows = sorted(_mails(past, known, keys), key=lambda row: str(row["created_at"]))
    if rows:
        session.execute(insert(OutboxMailRecord), rows)


def _mails(past: Past, people: list[Person], keys: Mapping[str, int]) -> Iterator[Row]:
    for place, person in enumerate(people):
        key = keys[person.email]
        if person.joined < _KEPT:
            welcome = MailKind.STAFF_INVITATION if person.group else MailKind.ACCOUNT_CONFIRMATION
            sender = MAIL_APP if place % 5 == 0 and not person.group else ""
            yield _mail(past, person, key, welcome, person.joined) | {"sent_by": sender}
        if person.last_seen is not None and place % 4 == 1:
            yield _mail(past, person, key, MailKind.PASSWORD_RESET, person.last_seen + 0.2)
            yield _mail(past, person, key, MailKind.PASSWORD_CHANGED, person.last_seen + 0.1)
        if person.email == FORGETFUL:
            failed = {"sent_at": None, "last_error": _UNKNOWN}
            yield _mail(past, person, key, MailKind.PASSWORD_RESET, 0.1) | failed


def _mail(past: Past, person: Person, key: int, kind: MailKind, ago: float) -> Row:
    sent_at = past.moment(ago - 2 * _SECONDS)
    return {
        "kind": kind.value,
        "recipient": person.email,
        "user_id": key,
        "sealed": "",
        "created_at": past.moment(ago),
        "attempts": 1,
        "attempted_at": sent_at,
        "sent_at": sent_at,
        "sent_by": "",
        "last_error": "",
    }
