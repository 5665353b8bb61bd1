"""What people let third parties do: asked once, listed, and revoked."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import and_, delete, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.oauth import OAuthClient, store_scopes
from app.domain.values.errors import Problem, Refused
from app.models.record import insert_into
from app.ports import Ports, ReadSession
from app.ports.database import account
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only, building_block, requires_person
from app.services.identity.users import find_manageable, require_manage_permission
from app.services.oauth.clients import has_client_id, to_client
from app.services.sign_in.reauthentication import own_id

_NOT_FOUND = Problem("NOT_FOUND", "This program isn't connected.", "client")


@dataclass(frozen=True, slots=True)
class ConnectedProgram:
    """A third party that a person allowed something.

    ``scopes`` are those of the last consent and of its grants. ``subject`` is what it knows the
    person by, if no other client does.
    """

    client_id: str
    name: str
    scopes: frozenset[str]
    allowed_at: datetime
    subject: str = ""


@building_block
def missing_consent(
    ports: Ports, actor: Actor, client: OAuthClient, scopes: Collection[str]
) -> frozenset[str]:
    """Return the scopes that the caller has to allow ``client`` first; none for first parties."""
    with ports.database.reading() as session:
        return not_allowed(session, own_id(actor), client, scopes)


@building_block
def not_allowed(
    session: Session | ReadSession, user_id: int, client: OAuthClient, scopes: Collection[str]
) -> frozenset[str]:
    """Return the scopes that a person hasn't allowed ``client``; none for first parties.

    What they allowed before the client got another name or site doesn't count.
    """
    if client.is_first_party:
        return frozenset()
    query = (
        select(models.OAuthConsent.scope)
        .join(
            models.OAuthClient,
            and_(
                models.OAuthClient.id == models.OAuthConsent.client_id,
                models.OAuthClient.consent_version == models.OAuthConsent.client_version,
            ),
        )
        .where(models.OAuthConsent.user_id == user_id, models.OAuthConsent.client_id == client.id)
    )
    return frozenset(scopes) - frozenset((session.scalar(query) or "").split())


@building_block
def can_continue(session: Session, granted: models.Session, client: OAuthClient) -> bool:
    """Whether a grant that began earlier has its person's consent still.

    A third party's has it until they disconnect the client, even if they have allowed less since
    the client got another name or site. One that began while the client was a first party, so
    that nobody was asked, has it once they allow all of its scopes.
    """
    if client.is_first_party:
        return True
    stored = session.get(models.OAuthConsent, (granted.user_id, client.id))
    if stored is None:
        return False
    was_asked = stored.created_at <= granted.created_at
    return was_asked or frozenset(granted.oauth_scope.split()) <= frozenset(stored.scope.split())


@account_owner_only
def scopes_to_allow(
    ports: Ports, actor: Actor, client: OAuthClient, scopes: Collection[str]
) -> frozenset[str]:
    """Return the scopes that the person is to be asked for before ``client`` gets ``scopes``."""
    return missing_consent(ports, actor, client, scopes)


@account_owner_only
def allow_client(ports: Ports, actor: Actor, client: OAuthClient, scopes: Collection[str]) -> None:
    """Remember that the person allows ``client`` these scopes, beside what it has already."""
    with ports.database.transaction(account(own_id(actor))) as session:
        store_consent(ports, actor, session, client, scopes)


@building_block
def store_consent(
    ports: Ports, actor: Actor, session: Session, client: OAuthClient, scopes: Collection[str]
) -> None:
    """Remember what ``allow_client`` does, in the transaction of ``session``."""
    user_id, now = own_id(actor), ports.clock.now()
    key = user_id, client.id
    version = client.consent_version
    stored = session.get(models.OAuthConsent, key, with_for_update=True)
    if stored is None:
        new = {"user_id": user_id, "client_id": client.id, "scope": "", "client_version": version}
        insert = insert_into(session, models.OAuthConsent).values(
            **new, created_at=now, updated_at=now
        )
        # The same may be stored elsewhere at this moment: two tabs, or a device.
        session.execute(insert.on_conflict_do_nothing())
        stored = session.get_one(models.OAuthConsent, key, with_for_update=True)
    before = stored.scope.split() if stored.client_version == version else ()
    scope = store_scopes({*before, *scopes})
    stored.scope, stored.client_version, stored.updated_at = scope, version, now
    after = {"client": client.name, "scope": sorted(scope.split())}
    entry = Change("oauth_consent.allow", "User", user_id, actor.name, after=after)
    record(ports, actor, session, entry)


@account_owner_only
def list_connected_programs(ports: Ports, actor: Actor) -> tuple[ConnectedProgram, ...]:
    """Return the third parties that the caller allowed something, by name."""
    return _programs(ports, own_id(actor))


@requires_person(Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
def list_programs_of_user(ports: Ports, actor: Actor, user: User) -> tuple[ConnectedProgram, ...]:
    """Return the third parties that a person allowed something, by name.

    Those of customers for MANAGE_USERS, of staff for MANAGE_STAFF.
    """
    require_manage_permission(actor, is_staff=user.is_staff)
    return _programs(ports, user.id)


@requires_person(Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
def disconnect_program_of_user(ports: Ports, actor: Actor, user_id: int, client_id: str) -> None:
    """Take back what a person allowed a client, and end its sessions of theirs.

    Refuses NOT_FOUND on ``client``, and on ``id`` NOT_FOUND and OUT_OF_SCOPE_USER for the person.
    """
    with ports.database.transaction(account(user_id)) as session:
        user = find_manageable(session, actor, user_id)
        _disconnect(ports, actor, session, user_id, user.email, client_id)


@account_owner_only
def disconnect_program(ports: Ports, actor: Actor, client_id: str) -> None:
    """Take back what the caller allowed a client, and end its sessions of theirs.

    Refuses NOT_FOUND on ``client``.
    """
    user_id = own_id(actor)
    with ports.database.transaction(account(user_id)) as session:
        _disconnect(ports, actor, session, user_id, actor.name, client_id)


def _disconnect(
    ports: Ports, actor: Actor, session: Session, user_id: int, name: str, client_id: str
) -> None:
    client = session.scalar(select(models.OAuthClient).where(has_client_id(client_id)))
    stored = None
    if client is not None:
        # Locked, so that a device that is let in meanwhile is seen below or comes after this.
        stored = session.get(models.OAuthConsent, (user_id, client.id), with_for_update=True)
    if client is None or stored is None:
        raise Refused(_NOT_FOUND)
    own_sessions = select(models.Session.id).where(models.Session.user_id == user_id)
    # A code or a device that is on its way would begin a session without consent. One that is
    # being exchanged holds its row until then, so that its session is among those that end.
    session.execute(
        update(models.OAuthDeviceCode)
        .where(
            models.OAuthDeviceCode.client_id == client.id,
            models.OAuthDeviceCode.session_id.in_(own_sessions),
        )
        .values(is_denied=True)
    )
    session.execute(
        delete(models.OAuthCode).where(
            models.OAuthCode.client_id == client.id, models.OAuthCode.session_id.in_(own_sessions)
        )
    )
    ended = delete(models.Session).where(
        models.Session.oauth_client_id == client.id, models.Session.user_id == user_id
    )
    before = {
        "client": client.name,
        "scope": sorted(stored.scope.split()),
        "sessions": len(session.scalars(ended.returning(models.Session.id)).all()),
    }
    session.delete(stored)
    entry = Change("oauth_consent.revoke", "User", user_id, name, before=before)
    record(ports, actor, session, entry)


def _programs(ports: Ports, user_id: int) -> tuple[ConnectedProgram, ...]:
    is_grant = and_(
        models.Session.oauth_client_id == models.OAuthClient.id,
        models.Session.user_id == user_id,
        models.Session.expires_at > ports.clock.now(),
    )
    query = (
        select(
            models.OAuthClient,
            models.OAuthConsent.scope,
            models.OAuthConsent.created_at,
            models.Session.oauth_scope,
        )
        .join(models.OAuthConsent, models.OAuthConsent.client_id == models.OAuthClient.id)
        .outerjoin(models.Session, is_grant)
        .where(models.OAuthConsent.user_id == user_id)
        .order_by(models.OAuthClient.name, models.OAuthClient.id)
    )
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    programs = {
        stored.id: _program(to_client(stored), user_id, scope, allowed_at)
        for stored, scope, allowed_at, _ in rows
    }
    for stored, _, _, granted in rows:
        program = programs[stored.id]
        scopes = program.scopes | frozenset((granted or "").split())
        programs[stored.id] = replace(program, scopes=scopes)
    return tuple(programs.values())


def _program(
    client: OAuthClient, user_id: int, scope: str, allowed_at: datetime
) -> ConnectedProgram:
    subject = client.subject_of(user_id) if client.is_pairwise else ""
    return ConnectedProgram(
        client.client_id, client.name, frozenset(scope.split()), allowed_at, subject
    )


@building_block
def consent_proof(ports: Ports, actor: Actor, client: OAuthClient, query: str) -> str:
    """Return what the form of a consent page carries: for this session and request alone.

    Also for the client as the page shows it.
    """
    shown = f"{actor.session_id} {client.consent_version} {query}"
    return ports.encryption.fingerprint("oauth consent", shown)
