"""Create, change, list and delete OAuth clients; rotate their secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, false, or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain import oauth
from app.domain.apps.apps import DEFAULT_OVERLAP, overlap_problem
from app.domain.authorization.actor import Actor, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import ABSENT, Absent, Seen, require_unchanged
from app.domain.values.text_rules import is_storable
from app.models.record import insert_into
from app.ports import NamedRow, Ports, ReadSession
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import building_block, fresh_proof, requires_person
from app.services.identity.stored_apps import locked_app
from app.services.lists.paging import record_from

CLIENT = "OAuthClient"

_USED_EVERY = timedelta(minutes=1)
"""How exactly the last use of a client is known."""

_PRIVILEGED = Problem(
    "OUT_OF_SCOPE_PERMISSION",
    "Only people with all permissions can manage clients of first parties, or with staff scopes.",
    "id",
)
_NOT_FOUND = Problem("NOT_FOUND", "There is no such client.", "id")
_BUILT_IN = Problem(
    "INVALID",
    "flask login needs this client, which can't be created again. Disable it instead.",
    "id",
)


@dataclass(frozen=True, slots=True)
class ClientChange:
    """A change of a client, or the settings of a new one; absent fields stay.

    What isn't as ``seen`` anymore makes ``Stale``, by the names of ``client_facts``.
    """

    name: str | Absent = ABSENT
    redirect_uris: tuple[str, ...] | Absent = ABSENT
    post_logout_redirect_uris: tuple[str, ...] | Absent = ABSENT
    backchannel_logout_uri: str | Absent = ABSENT
    scopes: frozenset[str] | Absent = ABSENT
    is_first_party: bool | Absent = ABSENT
    key_set: str | Absent = ABSENT
    is_active: bool | Absent = ABSENT
    allows_devices: bool | Absent = ABSENT
    seen: Seen = field(default_factory=dict, compare=False)

    def values(self) -> dict[str, Any]:
        """Return the fields of a client that aren't absent."""
        found = {name: getattr(self, name) for name in self.__slots__ if name != "seen"}
        return {name: value for name, value in found.items() if value is not ABSENT}


@dataclass(frozen=True, slots=True)
class ClientKind:
    """What a client is for its whole life.

    ``is_public``: it can't keep a secret. ``app_id`` is the app as which it acts. ``is_pairwise``:
    its subjects of people are known to no other client (RFC 7591, ``subject_type``).
    """

    is_public: bool = False
    app_id: int | None = None
    is_pairwise: bool = False


SIGNS_IN = ClientKind()


@requires_person(Permission.MANAGE_APPS)
def list_clients(ports: Ports, actor: Actor) -> tuple[oauth.OAuthClient, ...]:
    """Return all clients by name."""
    query = select(models.OAuthClient).order_by(models.OAuthClient.name, models.OAuthClient.id)
    with ports.database.reading() as session:
        stored = session.scalars(query).all()
        secrets = _secrets_of(session, ports.clock.now(), *(client.id for client in stored))
        return tuple(to_client(client, secrets.get(client.id, ())) for client in stored)


@requires_person(Permission.MANAGE_APPS)
def show_client(ports: Ports, actor: Actor, client_id: str) -> oauth.OAuthClient:
    """Return a client by its client ID; refuses NOT_FOUND on ``id``."""
    with ports.database.reading() as session:
        stored = session.scalar(select(models.OAuthClient).where(has_client_id(client_id)))
        if stored is None:
            raise Refused(_NOT_FOUND)
        return client_with_secrets(ports, session, stored)


@fresh_proof("You're about to create an OAuth client.")
@requires_person(Permission.MANAGE_APPS)
def create_client(
    ports: Ports, actor: Actor, change: ClientChange, kind: ClientKind = SIGNS_IN
) -> oauth.NewClient:
    """Create a client, with a secret unless it is public or has keys.

    Refuses INVALID and REQUIRED on the field at fault, NOT_FOUND and OUT_OF_SCOPE_APP on ``app``,
    INVALID on ``pairwise`` for an app, INVALID on ``firstParty`` with pairwise subjects,
    OUT_OF_SCOPE_PERMISSION on ``id`` for a first party, and for scopes of staff, to people without
    all permissions.
    """
    client = oauth.OAuthClient(
        id=0,
        client_id=ports.randomness.token(oauth.CLIENT_ID_LENGTH),
        name="",
        created_at=ports.clock.now(),
        scopes=oauth.DEFAULT_SCOPES if kind.app_id is None else frozenset(),
        is_public=kind.is_public,
        app_id=kind.app_id,
        subject_salt=ports.randomness.token(oauth.SECRET_LENGTH) if kind.is_pairwise else "",
    )
    client = _changed(client, change)
    refuse_any(*oauth.client_problems(client))
    with ports.database.transaction() as session:
        _require_manager(actor, session, client)
        stored = models.OAuthClient(client_id=client.client_id, created_at=client.created_at)
        _write(stored, client)
        session.add(stored)
        session.flush()
        secret = _add_secret(ports, session, stored.id) if client.has_secret else ""
        after = client_facts(client)
        entry = Change("oauth_client.create", CLIENT, stored.id, client.name, after=after)
        record(ports, actor, session, entry)
        return oauth.NewClient(client_with_secrets(ports, session, stored), secret)


def _act(ports: Ports, _actor: Actor, client_id: str, change: ClientChange) -> str:
    query = select(models.IS_FIRST_PARTY).where(has_client_id(client_id))
    with ports.database.reading() as session:
        is_first_party = session.scalar(query)
    return "promotion" if change.is_first_party is True and not is_first_party else "change"


@fresh_proof(
    {
        "change": "You're about to change an OAuth client.",
        "promotion": "You're about to make an OAuth client a first party. Its secrets, "
        "redirect URIs and sessions stay.",
    },
    when=_act,
)
@requires_person(Permission.MANAGE_APPS)
def update_client(
    ports: Ports, actor: Actor, client_id: str, change: ClientChange
) -> oauth.OAuthClient:
    """Change a client, or enable or disable it; effective at once in every process.

    While it is disabled, none of its tokens works. Its secrets end when it gets keys. After
    another name, or a redirect URI at another site, people are asked for their consent again.
    Refuses NOT_FOUND on ``id``, else as ``create_client`` does.
    """
    with ports.database.transaction() as session:
        stored, before = locked_client(ports, actor, session, client_id)
        require_unchanged(change.seen, client_facts(before))
        after = _changed(before, change)
        refuse_any(*oauth.client_problems(after))
        _require_manager(actor, session, after)
        if oauth.asks_again(before, after):
            after = replace(after, consent_version=before.consent_version + 1)
        _write(stored, after)
        if not after.is_active:
            _end_app_tokens(session, after)
        # Of a client that had keys, too: a secret from before them doesn't work again.
        has_kept_secrets = before.has_secret and after.has_secret
        ended = 0 if has_kept_secrets else _end_secrets(session, stored.id)
        after = replace(after, secrets=before.secrets if has_kept_secrets else ())
        old, new = differing(client_facts(before), client_facts(after))
        if new or ended:
            new = {**new, **({"secrets_ended": ended} if ended else {})}
            entry = Change("oauth_client.update", CLIENT, after.id, after.name, old, new)
            record(ports, actor, session, entry)
        return after


def _end_secrets(session: Session, client_id: int) -> int:
    secret = models.OAuthClientSecret
    ended = delete(secret).where(secret.client_id == client_id).returning(secret.id)
    return len(session.scalars(ended).all())


@fresh_proof("You're about to create a client secret.")
@requires_person(Permission.MANAGE_APPS)
def rotate_client_secret(
    ports: Ports, actor: Actor, client_id: str, overlap: timedelta = DEFAULT_OVERLAP
) -> oauth.NewClient:
    """Give a client another secret, while the one before goes on for ``overlap``.

    Earlier ones end at once. Refuses NOT_FOUND on ``id``, INVALID on it for a client without a
    secret, and INVALID on ``overlapSeconds``.
    """
    refuse_any(overlap_problem(overlap))
    with ports.database.transaction() as session:
        stored, client = locked_client(ports, actor, session, client_id)
        if not client.has_secret:
            raise Refused(Problem("INVALID", "This client has no secret.", "id"))
        now = ports.clock.now()
        query = (
            select(models.OAuthClientSecret)
            .where(models.OAuthClientSecret.client_id == stored.id)
            .order_by(models.OAuthClientSecret.id.desc())
        )
        for number, old in enumerate(session.scalars(query).all(), 2):
            end = now + overlap
            old.expires_at = end if old.expires_at is None else min(end, old.expires_at)
            if number > oauth.MAX_CLIENT_SECRETS or old.expires_at <= now:
                session.delete(old)
        secret = _add_secret(ports, session, stored.id)
        after = {"overlap_seconds": int(overlap.total_seconds()), "last_four": secret[-4:]}
        entry = Change("oauth_client.rotate_secret", CLIENT, stored.id, client.name, after=after)
        record(ports, actor, session, entry)
        return oauth.NewClient(client_with_secrets(ports, session, stored), secret)


@fresh_proof("You're about to delete an OAuth client.")
@requires_person(Permission.MANAGE_APPS)
def delete_client(ports: Ports, actor: Actor, client_id: str) -> oauth.OAuthClient:
    """Delete a client with its consents, and end its sessions.

    Refuses NOT_FOUND on ``id``, INVALID on it for the one that each installation has.
    """
    with ports.database.transaction() as session:
        stored, client = locked_client(ports, actor, session, client_id)
        if client.is_built_in:
            raise Refused(_BUILT_IN)
        session.execute(delete(models.Session).where(models.Session.oauth_client_id == stored.id))
        _end_app_tokens(session, client)
        session.delete(stored)
        before = client_facts(client)
        entry = Change("oauth_client.delete", CLIENT, stored.id, client.name, before)
        record(ports, actor, session, entry)
        return client


@building_block
def to_client(
    stored: models.OAuthClient | NamedRow,
    secrets: tuple[oauth.ClientSecret, ...] = (),
    app_name: str = "",
) -> oauth.OAuthClient:
    """Return the client of a record, or of a row with its columns."""
    return record_from(
        oauth.OAuthClient,
        stored,
        redirect_uris=tuple(stored.redirect_uris.split()),
        post_logout_redirect_uris=tuple(stored.post_logout_redirect_uris.split()),
        scopes=frozenset(stored.scopes.split()),
        # As ``models.IS_FIRST_PARTY`` of the model has it.
        is_first_party=stored.is_first_party and not stored.subject_salt,
        secrets=secrets,
        app_name=app_name,
    )


@building_block
def client_with_secrets(
    ports: Ports, session: Session | ReadSession, stored: models.OAuthClient | NamedRow
) -> oauth.OAuthClient:
    """Return what ``to_client`` does, with the secrets that work now."""
    secrets = _secrets_of(session, ports.clock.now(), stored.id)
    return to_client(stored, secrets.get(stored.id, ()))


@building_block
def record_client_use(
    ports: Ports, session: Session, client: oauth.OAuthClient, user_id: int | None = None
) -> None:
    """Remember when the client was last given tokens, and of whom."""
    now = ports.clock.now()
    last = models.OAuthClient.last_used_at
    session.execute(
        update(models.OAuthClient)
        .where(models.OAuthClient.id == client.id, or_(last.is_(None), last < now - _USED_EVERY))
        .values(last_used_at=now)
    )
    if user_id is None:
        return
    insert = insert_into(session, models.OAuthUse)
    session.execute(
        insert.values(client_id=client.id, user_id=user_id, used_at=now).on_conflict_do_update(
            index_elements=[models.OAuthUse.client_id, models.OAuthUse.user_id],
            set_={"used_at": insert.excluded.used_at},
            where=models.OAuthUse.used_at < now - _USED_EVERY,
        )
    )


@building_block
def app_token_name(client: oauth.OAuthClient) -> str:
    return f"OAuth client {client.client_id}"


@building_block
def is_app_token_of(client: oauth.OAuthClient) -> ColumnElement[bool]:
    """Return the condition that finds the tokens that a client got for its app.

    One that was created by hand can have the same name.
    """
    return and_(
        models.AppToken.app_id == client.app_id,
        models.AppToken.name == app_token_name(client),
        models.AppToken.is_by_client.is_(True),
    )


def _end_app_tokens(session: Session, client: oauth.OAuthClient) -> None:
    if client.app_id is not None:
        session.execute(delete(models.AppToken).where(is_app_token_of(client)))


def _changed(client: oauth.OAuthClient, change: ClientChange) -> oauth.OAuthClient:
    changed = replace(client, **change.values())
    return replace(changed, name=changed.name.strip())


def _write(stored: models.OAuthClient, client: oauth.OAuthClient) -> None:
    stored.name = client.name
    stored.redirect_uris = " ".join(client.redirect_uris)
    stored.post_logout_redirect_uris = " ".join(client.post_logout_redirect_uris)
    stored.backchannel_logout_uri = client.backchannel_logout_uri
    stored.scopes = oauth.store_scopes(client.scopes)
    stored.is_first_party = client.is_first_party
    stored.is_public = client.is_public
    stored.is_active = client.is_active
    stored.allows_devices = client.allows_devices
    stored.key_set = oauth.tidy_key_set(client.key_set)
    stored.app_id = client.app_id
    stored.subject_salt = client.subject_salt
    stored.consent_version = client.consent_version


@building_block
def client_facts(client: oauth.OAuthClient) -> Mapping[str, object]:
    """Return a client's settings, as the audit log has them."""
    return {
        "name": client.name,
        "client_id": client.client_id,
        "redirect_uris": [*client.redirect_uris],
        "post_logout_redirect_uris": [*client.post_logout_redirect_uris],
        "backchannel_logout_uri": client.backchannel_logout_uri,
        "scopes": sorted(client.scopes),
        "first_party": client.is_first_party,
        "is_public": client.is_public,
        "active": client.is_active,
        "allows_devices": client.allows_devices,
        "app": client.app_id,
        "pairwise": client.is_pairwise,
        "key_set": client.key_set,
    }


@building_block
def has_client_id(client_id: str) -> ColumnElement[bool]:
    # No database can be asked for what it cannot hold.
    return models.OAuthClient.client_id == client_id if is_storable(client_id) else false()


@building_block
def locked_client(
    ports: Ports, actor: Actor, session: Session, client_id: str
) -> tuple[models.OAuthClient, oauth.OAuthClient]:
    """Return a client that the caller can manage, for a change of it."""
    query = select(models.OAuthClient).where(has_client_id(client_id))
    stored = session.scalar(query.with_for_update())
    if stored is None:
        raise Refused(_NOT_FOUND)
    client = client_with_secrets(ports, session, stored)
    _require_manager(actor, session, client)
    return stored, client


def _require_manager(actor: Actor, session: Session, client: oauth.OAuthClient) -> None:
    """Refuse clients that would give the caller more than they have.

    A first party acts for everyone without their consent, and scopes of staff give its operator
    the rights of those who sign in.
    """
    if client.app_id is not None:
        locked_app(session, actor, client.app_id, "app")
    if is_privileged(client) and not holds_all_permissions(actor):
        raise Refused(_PRIVILEGED)


@building_block
def is_privileged(client: oauth.OAuthClient) -> bool:
    """Whether only people with all permissions can manage the client."""
    return client.is_first_party or bool(oauth.privileged(client.scopes))


def _add_secret(ports: Ports, session: Session, client_id: int) -> str:
    secret = f"{oauth.SECRET_PREFIX}{ports.randomness.token(oauth.SECRET_LENGTH)}"
    session.add(
        models.OAuthClientSecret(
            client_id=client_id,
            digest=oauth.digest_of_secret(secret),
            last_four=secret[-4:],
            created_at=ports.clock.now(),
        )
    )
    session.flush()
    return secret


def _secrets_of(
    session: Session | ReadSession, now: datetime, *client_ids: int
) -> Mapping[int, tuple[oauth.ClientSecret, ...]]:
    """Return the secrets of each client that work now, the newest first."""
    query = (
        select(models.OAuthClientSecret)
        .where(models.OAuthClientSecret.client_id.in_(client_ids))
        .order_by(models.OAuthClientSecret.id.desc())
    )
    found: dict[int, tuple[oauth.ClientSecret, ...]] = {}
    for stored in session.scalars(query):
        if stored.expires_at is None or stored.expires_at > now:
            secret = oauth.ClientSecret(
                stored.id, stored.last_four, stored.created_at, stored.expires_at
            )
            found[stored.client_id] = (*found.get(stored.client_id, ()), secret)
    return found
