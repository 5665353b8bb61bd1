"""Sessions as OAuth clients know them: their ``sid``, signing out, and reports of their end.

A client is signed in by a session of the hosted pages and by that of its grant. Whatever ends one
of them deletes its row, and the database marks what to report (``models.OAuthClientSession``).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, update
from sqlalchemy.orm import Session

from app import models
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
from app.ports import Ports
from app.ports.http import CallFailed, HttpRequest
from app.ports.monitoring import LOGOUT_REPORTS
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal, public
from app.services.keys import ring
from app.services.lists.paging import record_from
from app.services.oauth.clients import CLIENT, to_client

_SID_LENGTH = 32
_BATCH = 20
_LEASE = timedelta(minutes=5)
_TURN = timedelta(seconds=5)
"""How long a client is called in turn; one call more can take ``_TIMEOUT``."""
_LONGEST = 3600.0
"""Seconds that a client waits at most that can't be reached."""
_SET_BACK = timedelta(hours=2)
"""By how much what is due has been due: a clock that is put back delays no report."""
_TIMEOUT = 5.0
_MAX_RESPONSE = 4096
_REFUSED = 400
_REFUSAL: Sentence = translatable("The client refused it (HTTP 400).")
_JTI_LENGTH = 22
_stored = models.OAuthClientSession


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
    granted: models.Session,
    signed_in: models.Session | None = None,
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
            due_at=ports.clock.now() - _SET_BACK,
        )
        for one in followed
    )
    return sid


@building_block
def sid_of_grant(session: Session, granted: models.Session) -> str:
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
        select(models.Session.id, models.Session.oauth_scope)
        .join(_stored, _stored.session_id == models.Session.id)
        .where(_stored.sid.in_(sids), models.Session.oauth_client_id.is_not(None))
    )
    ended = [row.id for row in session.execute(grants) if OFFLINE not in row.oauth_scope.split()]
    session.execute(delete(models.Session).where(models.Session.id.in_(ended)))


@public
def read_id_token(ports: Ports, actor: Actor, issuer: str, token: str) -> Mapping[str, object]:
    """Return the claims of Latchkey's own ID token, also after it expired; empty for others."""
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


@building_block
def waits_for_worker(now: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    """Whether a client whose turn it can be is to be told of a session that has ended."""
    client = models.OAuthClient
    return (
        select(_stored.id)
        .join(client, client.id == _stored.client_id)
        .where(HAS_ENDED, _stored.due_at <= now, _is_free(now))
        .exists()
    )


def _is_free(now: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    return or_(models.OAuthClient.logouts_after.is_(None), models.OAuthClient.logouts_after <= now)


@dataclass(frozen=True, slots=True)
class _Ended:
    """A session to report, by the ``sid`` that its rows have in common."""

    sid: str
    issuer: str
    subject: str
    attempts: int


@internal
def report_ended_sessions(ports: Ports, actor: Actor) -> int:
    """Tell one client which of its sessions have ended; return how many reports were due.

    That is the client that has waited longest, so that a slow one delays no other. It gets some
    reports in turn, for a few seconds, and none elsewhere meanwhile. One that can't be reached
    waits, up to an hour, with all of its reports.

    A row is deleted after its client was told: a crash in between reports it again. Each is tried
    for two days; one that is refused (400) isn't. Nothing is sent while the installation holds
    what it sends.
    """
    if ports.cache.hold is not None:
        return 0
    client = _claim(ports)
    if client is None:
        return 0
    if not (client.is_active and client.backchannel_logout_uri):
        return _drop_all(ports, client)
    ended, failed = _due(ports, client), False
    began = ports.clock.now()
    for one in ended:
        if ports.clock.now() - began > _TURN:
            break
        try:
            _settle(ports, actor, client, one, _send(ports, client, one))
        except CallFailed as failure:
            _postpone(ports, actor, client, str(failure))
            failed = True
            break
    if not failed:
        _release(ports, client)
    return len(ended)


def _claim(ports: Ports) -> OAuthClient | None:
    """Return the client that has waited longest for its turn; no other worker calls it now."""
    now = ports.clock.now()
    record_of = models.OAuthClient
    due = exists().where(_stored.client_id == record_of.id, HAS_ENDED, _stored.due_at <= now)
    first = (
        select(record_of)
        .where(due, _is_free(now))
        .order_by(record_of.logouts_after.asc().nulls_first(), record_of.id)
        .limit(1)
        .with_for_update(skip_locked=True, key_share=True)
    )
    with ports.database.transaction() as session:
        client = session.scalar(first)
        if client is None:
            return None
        client.logouts_after = now + _LEASE
        return to_client(client)


def _due(ports: Ports, client: OAuthClient) -> Sequence[_Ended]:
    """Return reports for a client, those that were tried least first."""
    query = (
        select(_stored.sid, _stored.issuer, _stored.subject, _stored.attempts)
        .where(_stored.client_id == client.id, HAS_ENDED, _stored.due_at <= ports.clock.now())
        .distinct()
        .order_by(_stored.attempts, _stored.sid)
        .limit(_BATCH)
    )
    with ports.database.reading() as session:
        ended = [record_from(_Ended, row) for row in session.execute(query)]
    return list({one.sid: one for one in ended}.values())


def _send(ports: Ports, client: OAuthClient, ended: _Ended) -> str | None:
    """Send a logout token; return what went wrong, "" for nothing, ``None`` if it was refused.

    Raises ``CallFailed`` for a client that can't be reached.
    """
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
    answer = ports.http.send(request)
    if answer.status == _REFUSED:
        return None
    return "" if answer.is_good else f"The client answered with HTTP {answer.status}."


def _settle(
    ports: Ports, actor: Actor, client: OAuthClient, ended: _Ended, problem: str | None
) -> None:
    """Delete what was reported or is given up, else set the next attempt."""
    if problem == "":
        ports.metrics.count(LOGOUT_REPORTS, "ok")
        _drop(ports, client, ended)
        return
    attempts = ended.attempts + 1
    delay = _delay(ports, attempts) if problem else None
    if delay is None:
        ports.metrics.count(LOGOUT_REPORTS, "refused" if problem is None else "given_up")
        _drop(ports, client, ended, actor, _failure(client, problem or _REFUSAL))
        return
    ports.metrics.count(LOGOUT_REPORTS, "failed")
    now = ports.clock.now()
    with ports.database.transaction() as session:
        session.execute(
            update(_stored)
            .where(*_rows_of(client, ended))
            .values(
                attempts=attempts,
                due_at=now + timedelta(seconds=delay),
                first_attempt_at=func.coalesce(_stored.first_attempt_at, now),
            )
        )


def _postpone(ports: Ports, actor: Actor, client: OAuthClient, problem: str) -> None:
    """Let a client that can't be reached wait, and give up reports that have been tried enough."""
    now = ports.clock.now()
    of_client = _stored.client_id == client.id, HAS_ENDED
    stored = models.OAuthClient
    ports.metrics.count(LOGOUT_REPORTS, "failed")
    with ports.database.transaction() as session:
        failures = session.scalar(
            update(stored)
            .where(stored.id == client.id)
            .values(logout_failures=stored.logout_failures + 1)
            .returning(stored.logout_failures)
        )
        delay = min(_delay(ports, failures or 0) or _LONGEST, _LONGEST)
        waits = update(stored).where(stored.id == client.id)
        session.execute(waits.values(logouts_after=now + timedelta(seconds=delay)))
        session.execute(
            update(_stored)
            .where(*of_client, _stored.first_attempt_at.is_(None))
            .values(first_attempt_at=now)
        )
        too_old = _stored.first_attempt_at < now - timedelta(seconds=sum(MAIL_DELAYS))
        ended = delete(_stored).where(*of_client, too_old).returning(_stored.sid)
        given_up = {*session.scalars(ended)}
        if given_up:
            ports.metrics.count(LOGOUT_REPORTS, "given_up", amount=len(given_up))
            record(ports, actor, session, _failure(client, problem))


def _delay(ports: Ports, attempts: int) -> float | None:
    return delay_before(attempts, MAIL_DELAYS, ports.randomness.secret(1)[0] / 255)


def _failure(client: OAuthClient, reason: str) -> Change:
    after = {"reason": reason}
    return Change("oauth_client.logout_failed", CLIENT, client.id, client.name, after=after)


def _release(ports: Ports, client: OAuthClient) -> None:
    """Put a client that was reached at the end of the line."""
    stored = models.OAuthClient
    with ports.database.transaction() as session:
        session.execute(
            update(stored)
            .where(stored.id == client.id)
            .values(logouts_after=ports.clock.now() - _SET_BACK, logout_failures=0)
        )


def _drop_all(ports: Ports, client: OAuthClient) -> int:
    """Delete what a client isn't told; return how much."""
    of_client = _stored.client_id == client.id, HAS_ENDED
    with ports.database.transaction() as session:
        dropped = session.scalars(delete(_stored).where(*of_client).returning(_stored.id)).all()
    _release(ports, client)
    return len(dropped)


def _rows_of(client: OAuthClient, ended: _Ended) -> tuple[ColumnElement[bool], ...]:
    return _stored.client_id == client.id, _stored.sid == ended.sid, HAS_ENDED


def _drop(
    ports: Ports,
    client: OAuthClient,
    ended: _Ended,
    actor: Actor | None = None,
    entry: Change | None = None,
) -> None:
    with ports.database.transaction() as session:
        session.execute(delete(_stored).where(*_rows_of(client, ended)))
        if actor is not None and entry is not None:
            record(ports, actor, session, entry)
