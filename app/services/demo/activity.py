"""The demo shop's traffic, logins, token uses and a blocked IP."""

from collections.abc import Iterator
from datetime import timedelta
from math import pi, sin

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.domain.shop.settings import TRAFFIC_BUCKET, TrafficKind, bucket_of
from app.domain.sign_in.login_throttle import block_seconds
from app.models import (
    AppTokenRecord,
    ExternalIdentityRecord,
    TrafficRecord,
    UserRecord,
)
from app.services.authorization.register import part
from app.services.demo.people import PEOPLE, Person, made_here
from app.services.demo.timeline import Past

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


@part
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


@part
def write_traces(past: Past, session: Session, app_id: int | None) -> None:
    """Everything that the passing of time alone leaves; ``app_id`` is the app that comes often."""
    _count_traffic(past, session)
    users = made_here(session, [person.email for person in PEOPLE])
    for person in PEOPLE:
        if person.email in users:
            _seen(past, session, users[person.email], person)
    _use_tokens(past, session, app_id)


def _seen(past: Past, session: Session, key: int, person: Person) -> None:
    user = session.get_one(UserRecord, key)
    if person.last_seen is not None:
        user.last_login = past.moment(person.last_seen)
    taken = select(ExternalIdentityRecord.id).where(
        ExternalIdentityRecord.issuer == ISSUER, ExternalIdentityRecord.subject == person.subject
    )
    if person.subject and session.scalar(taken) is None:
        session.add(
            ExternalIdentityRecord(
                user_id=key,
                issuer=ISSUER,
                subject=person.subject,
                is_verified=True,
                created_at=past.moment(person.joined - 1),
            )
        )


def _use_tokens(past: Past, session: Session, app_id: int | None) -> None:
    """Record uses of the unreadable tokens a few minutes ago."""
    tokens = select(AppTokenRecord.id).where(AppTokenRecord.app_id == app_id)
    for place, key in enumerate(session.scalars(tokens.order_by(AppTokenRecord.id)).all()):
        session.execute(
            update(AppTokenRecord)
            .where(AppTokenRecord.id == key)
            .values(
                last_used_at=past.moment(0.05 + place * 7),
                last_used_address=_WAREHOUSE_ADDRESS,
            )
        )


def _count_traffic(past: Past, session: Session) -> None:
    """Count two days of traffic, except the current intervals."""
    until = bucket_of(past.now) - TRAFFIC_BUCKET
    began = until - _COUNTED
    counted = select(TrafficRecord.began_at, TrafficRecord.kind).where(
        TrafficRecord.began_at >= began
    )
    existing = {(row.began_at, row.kind) for row in session.execute(counted)}
    rows = [row for row in _traffic(past) if (row["began_at"], row["kind"]) not in existing]
    if rows:
        session.execute(insert(TrafficRecord), rows)


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
