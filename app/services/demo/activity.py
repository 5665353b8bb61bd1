"""The demo shop's traffic, sign-ins, token uses, mail log and a blocked IP address."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from math import pi, sin

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import TRAFFIC_BUCKET, TrafficKind, bucket_of
from app.domain.sign_in.login_throttle import block_seconds
from app.domain.sign_in.sign_in_log import (
    EMAIL_PURPOSE,
    AccountType,
    SignInMethod,
    SignInReason,
    mask_email,
)
from app.services.authorization.register import building_block
from app.services.demo.people import PEOPLE, Person, made_for_demo
from app.services.demo.timeline import DAY, Past

ISSUER = "https://id.northlight.example"

_COUNTED = timedelta(days=2)
_A_BUCKET = {
    TrafficKind.ANONYMOUS: 34.0,
    TrafficKind.CUSTOMER: 11.0,
    TrafficKind.STAFF: 6.0,
    TrafficKind.APP: 9.0,
    TrafficKind.INVALID: 1.3,
}
GUESSER = "203.0.113.77"
_GUESSES = 12
_IMPATIENCE = 0.5
"""Seconds after a block at which it is tried again."""
_WAREHOUSE_ADDRESS = "198.51.100.40"


@building_block
def block_guesser(past: Past, victim: int | None) -> None:
    """Block an IP address for half an hour, as after guessed passwords."""
    waits = [
        block_seconds(failures=count, known_failures=count, user_failures=count) + _IMPATIENCE
        for count in range(1, _GUESSES)
    ]
    at = past.now.timestamp() - sum(waits)
    for wait in (*waits, 0.0):
        attempt = past.ports.throttle.begin(GUESSER, at)
        if attempt.lease:
            past.ports.throttle.fail(GUESSER, attempt.lease, victim, at)
        at += wait


@building_block
def write_traces(past: Past, session: Session, app_id: int | None) -> None:
    """Everything that the passing of time alone leaves; ``app_id`` is the app that comes often."""
    _count_traffic(past, session)
    users = made_for_demo(session, [person.email for person in PEOPLE])
    for person in PEOPLE:
        if person.email in users:
            _record_sign_in(past, session, users[person.email], person)
    _use_tokens(past, session, app_id)


def _record_sign_in(past: Past, session: Session, key: int, person: Person) -> None:
    user = session.get_one(models.User, key)
    if person.last_seen is not None:
        user.last_login = past.moment(person.last_seen)
    taken = select(models.ExternalIdentity.id).where(
        models.ExternalIdentity.issuer == ISSUER, models.ExternalIdentity.subject == person.subject
    )
    if person.subject and session.scalar(taken) is None:
        session.add(
            models.ExternalIdentity(
                user_id=key,
                issuer=ISSUER,
                subject=person.subject,
                is_verified=True,
                created_at=past.moment(person.joined - 1),
            )
        )


def _use_tokens(past: Past, session: Session, app_id: int | None) -> None:
    """Record uses of the unreadable tokens a few minutes ago."""
    tokens = select(models.AppToken.id).where(models.AppToken.app_id == app_id)
    for place, key in enumerate(session.scalars(tokens.order_by(models.AppToken.id)).all()):
        session.execute(
            update(models.AppToken)
            .where(models.AppToken.id == key)
            .values(
                last_used_at=past.moment(0.05 + place * 7), last_used_address=_WAREHOUSE_ADDRESS
            )
        )


def _count_traffic(past: Past, session: Session) -> None:
    """Count two days of traffic, except the current intervals."""
    until = bucket_of(past.now) - TRAFFIC_BUCKET
    began = until - _COUNTED
    counted = select(models.Traffic.began_at, models.Traffic.kind).where(
        models.Traffic.began_at >= began
    )
    existing = {(row.began_at, row.kind) for row in session.execute(counted)}
    rows = [row for row in _traffic(past) if (row["began_at"], row["kind"]) not in existing]
    if rows:
        session.execute(insert(models.Traffic), rows)


def _traffic(past: Past) -> Iterator[dict[str, object]]:
    until = bucket_of(past.now) - TRAFFIC_BUCKET
    for place in range(_COUNTED // TRAFFIC_BUCKET):
        began_at = until - place * TRAFFIC_BUCKET
        # Most in the early evening, few in the small hours; never twice quite the same.
        day = 1 + 0.85 * sin((began_at.hour + began_at.minute / 60 - 12) * pi / 12)
        for kind, usual in _A_BUCKET.items():
            unrest = 0.8 + (place * 31 + len(kind.value) * 7) % 40 / 100
            requests = round(usual * day * unrest)
            if requests:
                yield {"began_at": began_at, "kind": kind.value, "requests": requests}


_DAYS = 20
_PROVIDER = "Northlight ID"
_DEVICES = ("Safari on iPhone", "Chrome on Android", "Firefox on Windows", "Edge on Windows")
_MISTYPED = "amara.dialo@example.com"
FORGETFUL = "customer@example.com"
"""A customer who doesn't get in today."""

Row = dict[str, object]


@building_block
def write_sign_ins(past: Past, session: Session) -> None:
    """Write sign-ins of the last weeks, and attempts that failed."""
    keys = made_for_demo(session, [person.email for person in PEOPLE])
    known = [person for person in PEOPLE if person.email in keys]
    rows = [
        *(row for person in known for row in _visits(past, person, keys)),
        *_failures(past, keys),
    ]
    if rows:
        session.execute(insert(models.SignInEvent), rows)


def _visits(past: Past, person: Person, keys: Mapping[str, int]) -> Iterator[Row]:
    """Yield a person's successful sign-ins: every few days, some after a mistyped password."""
    place = keys[person.email]
    if person.last_seen is not None:
        yield _visit(past, person, keys, person.last_seen)
    for number in range(_DAYS):
        ago = DAY * number + 2.0 + (place * 7 + number * 5) % 19 / 1.6
        if (number + place) % (2 + place % 5) or not _is_active_then(person, ago):
            continue
        row = _visit(past, person, keys, ago)
        if not person.subject and (number * 3 + place) % 7 == 0:
            yield row | _failed(SignInReason.INCORRECT_PASSWORD, 1 + place % 3)
        yield row


def _visit(past: Past, person: Person, keys: Mapping[str, int], ago: float) -> Row:
    row = _of_person(past, person, keys, ago)
    if not person.subject:
        return row
    return row | {"method": SignInMethod.SSO.value, "provider": _PROVIDER}


def _is_active_then(person: Person, ago: float) -> bool:
    return person.last_seen is not None and person.last_seen < ago < person.joined


def _failures(past: Past, keys: Mapping[str, int]) -> Iterator[Row]:
    """Yield attempts that failed: one customer's of today, and some of the days before."""
    by_email = {person.email: person for person in PEOPLE if person.email in keys}
    forgetful = by_email.get(FORGETFUL)
    if forgetful is not None:
        address = {"address": GUESSER}
        row = _of_person(past, forgetful, keys, 0.1) | address
        yield row | _failed(SignInReason.INCORRECT_PASSWORD, 4) | {"first_at": past.moment(0.12)}
        row = _of_person(past, forgetful, keys, 0.05) | address
        yield row | _failed(SignInReason.BLOCKED_IP, 2)
    inactive = next((user for user in by_email.values() if not user.is_active), None)
    if inactive is not None:
        row = _of_person(past, inactive, keys, 3.2 * DAY) | {"in_console": True}
        yield row | _failed(SignInReason.INACTIVE, 2)
    unknown = past.ports.encryption.fingerprint(EMAIL_PURPOSE, _MISTYPED)
    yield {
        **_entry(past, 1.4 * DAY, AccountType.UNKNOWN, mask_email(_MISTYPED)),
        **_failed(SignInReason.UNKNOWN_EMAIL, 3),
        "email_digest": unknown,
    }


def _of_person(past: Past, person: Person, keys: Mapping[str, int], ago: float) -> Row:
    place = keys[person.email]
    is_staff = bool(person.group or person.subject or person.is_superuser)
    kind = AccountType.STAFF if is_staff else AccountType.CUSTOMER
    return _entry(past, ago, kind, person.email) | {
        "user_id": place,
        "in_console": is_staff,
        "address": f"203.0.113.{place % 60 + 100}",
        "device": _DEVICES[place % len(_DEVICES)],
    }


def _entry(past: Past, ago: float, kind: AccountType, name: str) -> Row:
    at = past.moment(ago)
    return {
        "at": at,
        "first_at": at,
        "attempts": 1,
        "method": SignInMethod.PASSWORD.value,
        "reason": "",
        "account_type": kind.value,
        "user_id": None,
        "name": name,
        "email_digest": "",
        "provider": "",
        "address": "203.0.113.99",
        "device": _DEVICES[0],
        "in_console": False,
    }


def _failed(reason: SignInReason, attempts: int) -> Row:
    return {"reason": reason.value, "attempts": attempts}


_KEPT = 80 * DAY
_UNKNOWN = "The mail server rejected the recipient with 550: 5.1.1 Mailbox does not exist."
_SECONDS = 1 / 3600

MAIL_APP = "Newsletter"
"""The app that sent some confirmations."""


@building_block
def write_mails(past: Past, session: Session) -> None:
    """Write emails of the last weeks, all sent or failed: the worker sends none of them."""
    keys = made_for_demo(session, [person.email for person in PEOPLE])
    known = [person for person in PEOPLE if person.email in keys]
    rows = sorted(_mails(past, known, keys), key=lambda row: str(row["created_at"]))
    if rows:
        session.execute(insert(models.OutboxMail), rows)


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
