"""Find the app or user of a token that isn't a session's, with the shop's state, in one statement.

Those are tokens of apps, extensions and linked clients, and providers' own that were seen before.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, or_, select
from sqlalchemy.orm import aliased

from app import models
from app.domain.apps.apps import extension_permissions, is_older_than_app, token_permissions
from app.domain.authorization.actor import AppClient, ProviderToken, SessionOrigin
from app.domain.authorization.permissions import Permission, ScopeGrant, split_names
from app.domain.sign_in.tokens import Claims
from app.ports import NamedRow, Ports
from app.ports.process_cache import CachedProviderToken
from app.services.authorization import session_rights
from app.services.authorization.declarations import building_block
from app.services.authorization.shop_state import (
    SHOP_STATE_COLUMNS,
    Lookup,
    moment,
    read_shop_state,
)


@dataclass(frozen=True, slots=True)
class FoundApp:
    """An app token that is good, and its app; ``granted`` is what this token may be used for.

    A linked client has no ``token_id``.

    ``limit`` is what the token was limited to when it was made, ``None`` for no limit; ``expires``
    is in Unix seconds, ``None`` for never.
    """

    app_id: int
    token_id: int | None
    name: str
    granted: frozenset[Permission]
    limit: frozenset[Permission] | None
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class ForeignTokenLookup:
    """What is known of a token in another form than Latchkey's; ``app`` as ``find_app`` finds it.

    ``is_stored`` even if the token has expired or its app is inactive. ``has_candidates`` if
    imported tokens that weren't used here yet have the same last four characters.
    """

    app: Lookup[FoundApp | None]
    is_stored: bool
    has_candidates: bool

    @property
    def is_of_app(self) -> bool:
        """Whether it is or may be an app's token, which no identity provider gets to see."""
        return self.is_stored or self.has_candidates


WORKS = or_(models.App.is_active.is_(True), models.App.is_installed.is_(False))
"""While an app is being installed it calls back, before it has become active."""

_IS_ACTIVE = and_(models.App.is_active.is_(True), models.App.is_installed.is_(True))
_IS_ALLOWED = or_(models.App.client_credentials_only.is_(False), models.AppToken.is_by_client)


def _app_where(condition: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    return (
        select(
            *SHOP_STATE_COLUMNS,
            models.App.id.label("app_id"),
            models.App.name.label("app_name"),
            session_rights.APP_PERMISSIONS.label("app_permissions"),
            models.AppToken.id.label("token_id"),
            models.AppToken.expires_at.label("token_expires_at"),
            models.AppToken.permissions.label("token_permissions"),
        )
        .select_from(models.Shop)
        .outerjoin(models.AppToken, condition)
        .outerjoin(models.App, and_(models.App.id == models.AppToken.app_id, WORKS, _IS_ALLOWED))
        .where(models.Shop.id == models.SHOP_ID)
    )


def _extension_where(condition: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    query = session_rights.session_query(
        condition,
        *session_rights.SESSION_COLUMNS,
        models.App.id.label("app_id"),
        models.App.created_at.label("app_created_at"),
        session_rights.APP_PERMISSIONS.label("app_permissions"),
    )
    return query.outerjoin(models.App, and_(models.App.id == bindparam("app_id"), _IS_ACTIVE))


_LINKED = (
    select(
        *SHOP_STATE_COLUMNS,
        models.App.id.label("app_id"),
        models.App.name.label("app_name"),
        session_rights.APP_PERMISSIONS.label("app_permissions"),
    )
    .select_from(models.Shop)
    .outerjoin(
        models.AppClient,
        and_(
            models.AppClient.id == bindparam("link_id"),
            models.AppClient.provider_id == bindparam("provider_id"),
            models.AppClient.issuer == bindparam("issuer"),
            models.AppClient.client_id == bindparam("client_id"),
            models.AppClient.subject == bindparam("subject"),
        ),
    )
    .outerjoin(models.App, and_(models.App.id == models.AppClient.app_id, _IS_ACTIVE))
    .where(models.Shop.id == models.SHOP_ID)
)
_APP = _app_where(models.AppToken.digest == bindparam("digest"))
_APP_OF_TOKEN = _app_where(models.AppToken.id == bindparam("token_id"))
_IMPORTED = aliased(models.AppToken)
_FOREIGN = _APP.add_columns(
    exists()
    .where(_IMPORTED.last_four == bindparam("last_four"), _IMPORTED.imported_hash.is_not(None))
    .label("has_candidates")
)
_EXTENSION = _extension_where(session_rights.IN_SESSION)
_EXTENSION_OF_KEY = _extension_where(session_rights.OF_KEY)


@building_block
def find_app(ports: Ports, digest: str) -> Lookup[FoundApp | None]:
    """The app whose token has that digest: active or being installed, the token not expired.

    ``None`` for a long-lived token of an app that allows client credentials alone.
    """
    return _read_app(ports, ports.database.read(_APP, {"digest": digest})[0])


@building_block
def find_app_again(ports: Ports, token_id: int) -> Lookup[FoundApp | None]:
    """Find an app as ``find_app`` does, by its token's key."""
    return _read_app(ports, ports.database.read(_APP_OF_TOKEN, {"token_id": token_id})[0])


@building_block
def find_linked_app(ports: Ports, client: AppClient) -> Lookup[FoundApp | None]:
    """Return the active app that ``client`` is linked to, unless the providers' settings changed.

    The link's row must still name this client: a restored backup can reuse its key.
    """
    values = {
        "link_id": client.link_id,
        "provider_id": client.provider_id,
        "issuer": client.issuer,
        "client_id": client.client_id,
        "subject": client.subject,
    }
    row = ports.database.read(_LINKED, values)[0]
    state = read_shop_state(row, ports.clock.now())
    if row.app_id is None or state.providers_version != client.version:
        return Lookup(state, None)
    granted = token_permissions(session_rights.read_permissions(row.app_permissions), None)
    return Lookup(state, FoundApp(row.app_id, None, row.app_name, granted, None))


@building_block
def find_foreign_token(ports: Ports, digest: str, last_four: str) -> ForeignTokenLookup:
    """Find the app of a token in another form; one statement, no hash is compared."""
    row = ports.database.read(_FOREIGN, {"digest": digest, "last_four": last_four})[0]
    return ForeignTokenLookup(
        _read_app(ports, row),
        is_stored=row.token_id is not None,
        has_candidates=bool(row.has_candidates),
    )


def _read_app(ports: Ports, row: NamedRow) -> Lookup[FoundApp | None]:
    state = read_shop_state(row, ports.clock.now())
    expires = moment(row.token_expires_at)
    if row.app_id is None or (expires is not None and expires <= ports.clock.now()):
        return Lookup(state, None)
    limit = None if row.token_permissions is None else split_names(row.token_permissions)
    granted = token_permissions(session_rights.read_permissions(row.app_permissions), limit)
    end = None if expires is None else expires.timestamp()
    return Lookup(state, FoundApp(row.app_id, row.token_id, row.app_name, granted, limit, end))


@building_block
def find_extension(
    ports: Ports, claims: Claims, app_id: int
) -> Lookup[session_rights.LiveSession | None]:
    """Find a session as ``find_session`` does, with the extension's active app.

    A token older than the app is ignored: a restored backup can reuse the app's key.
    """
    values = {"session": claims.session, "user_id": claims.user_id, "app_id": app_id}
    row = ports.database.read(_EXTENSION, values)[0]
    created = moment(row.app_created_at)
    if created is None or is_older_than_app(claims, created.timestamp()):
        return Lookup(read_shop_state(row, ports.clock.now()), None)
    return _read_extension(ports, row)


@building_block
def find_extension_again(
    ports: Ports, session_id: int, user_id: int, app_id: int
) -> Lookup[session_rights.LiveSession | None]:
    """Find an extension's session as ``find_extension`` does, by the session's key."""
    values = {"session_id": session_id, "user_id": user_id, "app_id": app_id}
    return _read_extension(ports, ports.database.read(_EXTENSION_OF_KEY, values)[0])


def _read_extension(ports: Ports, row: NamedRow) -> Lookup[session_rights.LiveSession | None]:
    state = read_shop_state(row, ports.clock.now())
    if row.app_id is None:
        return Lookup(state, None)
    granted = extension_permissions(session_rights.read_permissions(row.app_permissions))
    found = session_rights.read_session(row, session_rights.ExtensionApp(row.app_id, granted))
    return Lookup(state, session_rights.with_current_grant(ports, found))


_IDENTITY: Select[*tuple[object, ...]] = (
    select(
        *SHOP_STATE_COLUMNS,
        models.ExternalIdentity.tokens_valid_after.label("signed_out_there"),
        models.User.tokens_valid_after.label("signed_out_here"),
        *session_rights.USER_COLUMNS,
    )
    .select_from(models.Shop)
    .outerjoin(
        models.ExternalIdentity,
        and_(
            models.ExternalIdentity.id == bindparam("identity_id"),
            models.ExternalIdentity.issuer == bindparam("issuer"),
            models.ExternalIdentity.subject == bindparam("subject"),
        ),
    )
    .outerjoin(
        models.User,
        and_(models.User.id == models.ExternalIdentity.user_id, models.User.is_active.is_(True)),
    )
    .where(models.Shop.id == models.SHOP_ID)
)


@building_block
def find_provider_session(
    ports: Ports, seen: CachedProviderToken
) -> Lookup[session_rights.LiveSession | None]:
    """Return the active user of the token ``seen``, unless it was issued before they signed out.

    Signing out everywhere here and at the provider count alike. The identity's row must still have
    the token's issuer and subject: a restored backup can reuse its key.
    """
    token = ProviderToken(
        seen.identity_id,
        seen.issuer,
        seen.subject,
        seen.issued,
        seen.version,
        seen.waiting_changes,
    )
    return find_provider_session_again(ports, token, seen.grant, seen.amr)


@building_block
def find_provider_session_again(
    ports: Ports, token: ProviderToken, grant: ScopeGrant | None, amr: tuple[str, ...]
) -> Lookup[session_rights.LiveSession | None]:
    """Find a user as ``find_provider_session`` does, by an actor's ``ProviderToken``.

    While settings of the provider wait for confirmation, users who hold more than those who
    changed them hold now aren't found, and no more is granted.
    """
    values = {"identity_id": token.identity_id, "issuer": token.issuer, "subject": token.subject}
    row = ports.database.read(_IDENTITY, values)[0]
    state = read_shop_state(row, ports.clock.now())
    signed_out = row.signed_out_here, row.signed_out_there
    if row.user_id is None or is_signed_out(token.issued, *signed_out):
        return Lookup(state, None)
    user = session_rights.read_user(row)
    if token.waiting_changes:
        held = session_rights.permissions_while_waiting(ports, token.waiting_changes)
        if user.is_staff or not user.permissions <= held:
            return Lookup(state, None)
        grant = None if grant is None else ScopeGrant(grant.permissions & held)
    found = session_rights.LiveSession(
        None, SessionOrigin.OIDC, user, grant, provider_token=token, amr=amr
    )
    return Lookup(state, found)


@building_block
def is_signed_out(issued: float, *signed_out: object) -> bool:
    """Whether a token ``issued`` then (Unix seconds) is older than one of the moments.

    Providers round down to seconds: a token of the same second counts as older.
    """
    ends = map(moment, signed_out)
    return any(isinstance(end, datetime) and issued <= end.timestamp() for end in ends)
