"""The demo shop's sign-in log."""

from collections.abc import Iterator, Mapping

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.domain.sign_in.sign_in_log import (
    EMAIL_PURPOSE,
    AccountType,
    SignInMethod,
    SignInReason,
    mask_email,
)
from app.models import SignInEventRecord
from app.services.authorization.register import part
from app.services.demo.activity import GUESSER
from app.services.demo.people import PEOPLE, Person, made_here
from app.services.demo.timeline import DAY, Past

_DAYS = 20
_PROVIDER = "Northlight ID"
_DEVICES = ("Safari on iPhone", "Chrome on Android", "Firefox on Windows", "Edge on Windows")
_MISTYPED = "amara.dialo@example.com"
FORGETFUL = "customer@example.com"
"""A customer who doesn't get in today."""

Row = dict[str, object]


@part
def write_sign_ins(past: Past, session: Session) -> None:
    """Write sign-ins of the last weeks, and attempts that failed."""
    keys = made_here(session, [person.email for person in PEOPLE])
    known = [person for person in PEOPLE if person.email in keys]
    rows = [
        *(row for person in known for row in _visits(past, person, keys)),
        *_failures(past, keys),
    ]
    if rows:
        session.execute(insert(SignInEventRecord), rows)


def _visits(past: Past, person: Person, keys: Mapping[str, int]) -> Iterator[Row]:
    """Yield a person's successful sign-ins: every few days, some after a mistyped password."""
    place = keys[person.email]
    if person.last_seen is not None:
        yield _visit(past, person, keys, person.last_seen)
    for number in range(_DAYS):
        ago = DAY * number + 2.0 + (place * 7 + number * 5) % 19 / 1.6
        if (number + place) % (2 + place % 5) or not _is_here(person, ago):
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


def _is_here(person: Person, ago: float) -> bool:
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
