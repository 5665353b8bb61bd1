"""Sessions as OAuth clients know them: their ``sid``, signing out, and reports of their end.

A client is signed in by a session of the hosted pages and by that of its grant. Whatever ends one
of them deletes its row, and the database marks what to report (``OAuthClientSessionRecord``).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.oauth import (
    LOGOUT_EVENT,
    LOGOUT_TOKEN_LIFETIME,
    LOGOUT_TOKEN_TYPE,
    OFFLINE,
    OAuthClient,
)
from app.domain.values.errors import TokenRejected
from app.domain.values.text import Sentence, translatable
from app.domain.values.times import MAIL_DELAYS, delay_before
from app.models import OAuthClientRecord, OAuthClientSessionRecord, SessionRecord
from app.ports import Ports
from app.ports.http import CallFailed, HttpRequest
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal, public
from app.services.keys import ring
from app.services.lists.paging import record_from
from app.services.oauth.clients import CLIENT, to_client

_SID_LENGTH = 32
_BATCH = 20
_LEASE = timedelta(minutes=5)
_TIMEOUT = 5.0
_MAX_RESPONSE = 4096
_REFUSED = 400
_REFUSAL: Sentence = translatable("The client refused it (HTTP 400).")
_JTI_LENGTH = 22
_stored = OAuthClientSessionRecord


@dataclass(frozen=True, slots=True)
class ClientPerson:
    """A person as a client knows them: by the issuer and subject of its ID tokens."""

    issuer: str
    subject: str


@building_block
def join_sessions(
    ports: Ports,
    session: Session,
    client: OAuthClient,
    person: ClientPerson,
    granted: SessionRecord,
    signed_in: SessionRecord | None = None,
) -> str:
    """Return the ``sid`` of a new grant: one for each client in a sign-in at the hosted pages.

    Without such a sign-in the grant stands for itself.
    """
    base = granted if signed_in is None else signed_in
    sid = _sid_of(session, base.id, client.id)
    followed = [granted] if sid or signed_in is None else [signed_in, granted]
    sid = sid or hashlib.sha256(f"{base.token} {client.client_id}".encode()).hexdigest()
    sid = sid[:_SID_LENGTH]
    session.add_all(
        _stored(
            session_id=one.id,
            client_id=client.id,
            sid=sid,
            issuer=person.issuer,
            subject=person.subject,
            due_at=ports.clock.now(),
        )
        for one in followed
    )
    return sid


@building_block
def sid_of_grant(session: Session, granted: SessionRecord) -> str:
    """Return the ``sid`` of a grant; its name for one from before clients' sessions were kept."""
    return _sid_of(session, granted.id, granted.oauth_client_id) or granted.token


def _sid_of(session: Session, session_id: int, client_id: int | None) -> str:
    query = select(_stored.sid).where(
        _stored.session_id == session_id, _stored.client_id == client_id
    )
    return session.scalar(query.limit(1)) or ""


@building_block
def continue_sessions(session: Session, before: int, after: int) -> None:
    """Let clients stay signed in by the session ``after``, which replaces ``before``."""
    session.execute(update(_stored).where(_stored.session_id == before).values(session_id=after))


@building_block
def end_grants_of_sign_in(session: Session, session_id: int) -> None:
    """End the grants that began in a sign-in, except those with offline access."""
    sids = select(_stored.sid).where(_stored.session_id == session_id)
    grants = (
        select(SessionRecord.id, SessionRecord.oauth_scope)
        .join(_stored, _stored.session_id == SessionRecord.id)
        .where(_stored.sid.in_(sids), SessionRecord.oauth_client_id.is_not(None))
    )
    ended = [row.id for row in session.execute(grants) if OFFLINE not in row.oauth_scope.split()]
    session.execute(delete(SessionRecord).where(SessionRecord.id.in_(ended)))


@public
def read_id_token(ports: Ports, actor: Actor, issuer: str, token: str) -> Mapping[str, object]:
    """Return the claims of an ID token of ours, also of one that has expired; empty for others."""
    try:
        claims = ports.keys.verify(ring(ports).ring.published, token)
    except TokenRejected:
        return {}
    # Access tokens have the API's issuer, and logout tokens an event.
    is_ours = claims.get("iss") == issuer and isinstance(claims.get("aud"), str)
    return claims if is_ours and "events" not in claims else {}


@public
def is_signed_in_by(
    ports: Ports, actor: Actor, client: OAuthClient, sid: str, session_id: int
) -> bool:
    """Whether ``client`` knows the session ``session_id`` of the hosted pages as ``sid``."""
    query = select(_stored.id).where(
        _stored.session_id == session_id, _stored.client_id == client.id, _stored.sid == sid
    )
    with ports.database.reading() as session:
        return session.scalar(query.limit(1)) is not None


HAS_ENDED = _stored.session_id.is_(None)
"""Which sessions are to be reported."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """A session to report; ``uri`` is the client's, empty for one that isn't told."""

    id: int
    client_id: int
    sid: str
    issuer: str
    subject: str
    attempts: int


@internal
def report_ended_sessions(ports: Ports, actor: Actor) -> int:
    """Tell clients which of their sessions have ended; return how many were reported or dropped.

    A row is claimed before its client is called, and deleted afterwards: a crash in between
    reports it again. A client that doesn't answer is tried again for two days and a half; one that
    refuses (400) isn't. Nothing is sent while the installation holds what it sends.
    """
    if ports.cache.hold is not None:
        return 0
    claimed = _claim(ports)
    clients = _clients(ports, {ended.client_id for ended in claimed})
    told: set[tuple[int, str]] = set()
    for ended in claimed:
        client = clients.get(ended.client_id)
        name = ended.client_id, ended.sid
        if client is None or name in told:
            _drop(ports, ended)
            continue
        told.add(name)
        _settle(ports, actor, client, ended, _send(ports, client, ended))
    return len(claimed)


def _is_due(ports: Ports) -> tuple[ColumnElement[bool], ...]:
    return HAS_ENDED, _stored.due_at <= ports.clock.now()


def _claim(ports: Ports) -> Sequence[_Ended]:
    due = (
        select(_stored.id)
        .where(*_is_due(ports))
        .order_by(_stored.due_at, _stored.id)
        .limit(_BATCH)
        .with_for_update(skip_locked=True)
        .cte("due")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    claim = (
        update(_stored)
        .where(_stored.id.in_(select(due.c.id)))
        .values(due_at=ports.clock.now() + _LEASE, attempts=_stored.attempts + 1)
        .returning(
            _stored.id,
            _stored.client_id,
            _stored.sid,
            _stored.issuer,
            _stored.subject,
            _stored.attempts,
        )
    )
    with ports.database.transaction() as session:
        rows = session.execute(claim).all()
    return [record_from(_Ended, row) for row in rows]


def _clients(ports: Ports, keys: set[int]) -> Mapping[int, OAuthClient]:
    """Return the clients that are told when a session ends."""
    query = select(OAuthClientRecord).where(
        OAuthClientRecord.id.in_(keys),
        OAuthClientRecord.is_active,
        OAuthClientRecord.backchannel_logout_uri != "",
    )
    with ports.database.reading() as session:
        return {one.id: to_client(one) for one in session.scalars(query)}


def _send(ports: Ports, client: OAuthClient, ended: _Ended) -> str | None:
    """Send a logout token; return what went wrong, "" for nothing, ``None`` if it was refused."""
    now = int(ports.clock.timestamp())
    claims = {
        "iss": ended.issuer,
        "sub": ended.subject,
        "aud": client.client_id,
        "iat": now,
        "exp": now + LOGOUT_TOKEN_LIFETIME,
        "jti": ports.randomness.token(_JTI_LENGTH),
        "sid": ended.sid,
        "events": {LOGOUT_EVENT: {}},
    }
    token = ports.keys.sign(ring(ports).signer, claims, LOGOUT_TOKEN_TYPE)
    request = HttpRequest(
        client.backchannel_logout_uri,
        "POST",
        {"Content-Type": "application/x-www-form-urlencoded"},
        urlencode({"logout_token": token}).encode(),
        timeout=_TIMEOUT,
        max_size=_MAX_RESPONSE,
        status_suffices=True,
    )
    try:
        answer = ports.http.send(request)
    except CallFailed as failed:
        return str(failed)
    if answer.status == _REFUSED:
        return None
    return "" if answer.is_good else f"The client answered with HTTP {answer.status}."


def _settle(
    ports: Ports, actor: Actor, client: OAuthClient, ended: _Ended, problem: str | None
) -> None:
    """Delete what was reported or is given up, else set the next attempt."""
    if problem == "":
        _drop(ports, ended)
        return
    chance = ports.randomness.secret(1)[0] / 255
    delay = delay_before(ended.attempts, MAIL_DELAYS, chance) if problem else None
    if delay is None:
        after = {"reason": problem or _REFUSAL}
        entry = Change("oauth_client.logout_failed", CLIENT, client.id, client.name, after=after)
        _drop(ports, ended, actor, entry)
        return
    due = ports.clock.now() + timedelta(seconds=delay)
    with ports.database.transaction() as session:
        session.execute(
            update(_stored)
            .where(_stored.id == ended.id, _stored.attempts == ended.attempts)
            .values(due_at=due)
        )


def _drop(
    ports: Ports, ended: _Ended, actor: Actor | None = None, entry: Change | None = None
) -> None:
    with ports.database.transaction() as session:
        session.execute(delete(_stored).where(_stored.id == ended.id))
        if actor is not None and entry is not None:
            record(ports, actor, session, entry)
