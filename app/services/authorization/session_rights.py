"""Find the live session behind a token, with its rights and the shop's state, in one statement.

A provider whose settings wait for confirmation can grant what those who set it hold.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, null, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import Group, User
from app.domain.authorization.actor import (
    STAFF_SCOPE,
    ClientGrant,
    ProviderToken,
    SessionOrigin,
    read_client_grant,
)
from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Permission,
    ScopeGrant,
    known_permissions,
    read_grant,
)
from app.domain.second_factors import read_methods
from app.domain.shop.settings import (
    PasswordLoginMode,
    Switches,
    effective_permissions,
    lacks_second_factor,
    removes_staff_rights,
)
from app.domain.single_sign_on.waiting_changes import Changer, read_waiting
from app.domain.values.unchanging import unchanging
from app.models.json_arrays import JsonArray, json_array_text, json_object
from app.ports import NamedRow, Ports, ReadSession
from app.services.authorization.declarations import building_block
from app.services.authorization.shop_state import (
    SHOP_STATE_COLUMNS,
    Lookup,
    is_second_factor_required,
    moment,
    read_shop_state,
)

APP_PERMISSIONS = (
    select(json_array_text(models.AppPermission.permission))
    .where(models.AppPermission.app_id == models.App.id)
    .scalar_subquery()
)
"""What the app of a row was granted."""

GROUP_PERMISSIONS = (
    select(json_array_text(models.GroupPermission.permission))
    .where(models.GroupPermission.group_id == models.Group.id)
    .scalar_subquery()
)
"""What the group of a row gives to its members."""

NESTED_GROUP_PERMISSIONS = (
    select(JsonArray(models.GroupPermission.permission))
    .where(models.GroupPermission.group_id == models.Group.id)
    .scalar_subquery()
)
"""The same as a part of other JSON."""


GROUP_CHANNELS = case(
    (
        models.Group.is_channel_restricted.is_(True),
        select(json_array_text(models.GroupChannel.channel_id))
        .where(models.GroupChannel.group_id == models.Group.id)
        .scalar_subquery(),
    )
)
"""The channels that the group of a row is restricted to, null if it isn't."""

NESTED_GROUP_CHANNELS = (
    select(JsonArray(models.GroupChannel.channel_id))
    .where(models.GroupChannel.group_id == models.Group.id)
    .scalar_subquery()
)
"""The same as a part of other JSON, empty for a group that isn't restricted."""


@building_block
def read_permissions(text: str) -> frozenset[Permission]:
    """Return the permissions in the JSON text of an array of their names."""
    return _read(text)


@building_block
def read_channels(text: str | None) -> frozenset[int] | None:
    """Return the channels in a column of ``GROUP_CHANNELS``, ``None`` for all of them."""
    return None if text is None else frozenset(json.loads(text))


# Few combinations exist, and every request reads one or more of them.
@lru_cache(maxsize=1024)
def _read(text: str) -> frozenset[Permission]:
    return known_permissions(json.loads(text))


@building_block
def permissions_while_waiting(ports: Ports, waiting_changes: str) -> frozenset[Permission]:
    """Return what everyone whose changes wait holds now, of what they held when they made them."""
    changers = {change.changer for change in read_waiting(waiting_changes)}
    if any(changer.user_id is None and changer.app_id is None for changer in changers):
        return frozenset()
    with ports.database.reading() as session:
        held = [_held_by_changer(session, changer) for changer in changers]
    return frozenset.intersection(*held) if held else frozenset()


@building_block
def grant_while_waiting(ports: Ports, waiting_changes: str, grant: ScopeGrant) -> ScopeGrant:
    """Return as much of ``grant`` as counts: a provider that waits makes no one staff."""
    held = permissions_while_waiting(ports, waiting_changes)
    return ScopeGrant(grant.permissions & held)


def _held_by_changer(session: ReadSession | Session, changer: Changer) -> frozenset[Permission]:
    """Return what ``changer`` still holds; nothing for one who was deleted or deactivated."""
    held = changer.held
    if changer.user_id is not None:
        held &= _held_by_person(session, changer.user_id)
    if changer.app_id is not None:
        held &= _held_by_app(session, changer.app_id)
    return held


def _held_by_person(session: ReadSession | Session, user_id: int) -> frozenset[Permission]:
    person = select(models.User.is_superuser).where(
        models.User.id == user_id, models.User.is_active, models.User.is_staff
    )
    is_superuser = session.scalar(person)
    if is_superuser is None:
        return frozenset()
    if is_superuser:
        return ALL_PERMISSIONS
    direct = select(models.UserPermission.permission).where(
        models.UserPermission.user_id == user_id
    )
    by_group = (
        select(models.GroupPermission.permission)
        .join(models.GroupMember, models.GroupMember.group_id == models.GroupPermission.group_id)
        .where(models.GroupMember.user_id == user_id)
    )
    return known_permissions([*session.scalars(direct), *session.scalars(by_group)])


def _held_by_app(session: ReadSession | Session, app_id: int) -> frozenset[Permission]:
    granted = (
        select(models.AppPermission.permission)
        .join(models.App, models.App.id == models.AppPermission.app_id)
        .where(models.App.id == app_id, models.App.is_active, models.App.is_installed)
    )
    return known_permissions([*session.scalars(granted)])


@dataclass(frozen=True, slots=True)
class ExtensionApp:
    """An active app whose extension acts for a user, and its permissions."""

    id: int
    granted: frozenset[Permission]


@unchanging
class LiveSession:
    """A live session and its user with all permissions, before the login mode applies.

    ``session_id`` is ``None`` for a provider's own token, which has ``provider_token`` instead.
    ``grant`` holds the permissions of a provider that rules them, ``provider_id`` the provider at
    which the session began. ``app`` is the app of a dashboard extension that acts for the user.
    ``amr`` are the authentication methods, if a second factor or passkey was used.
    ``waiting_changes`` are those of the provider that granted permissions meanwhile. ``client`` is
    the OAuth client that the session was granted to.
    """

    session_id: int | None
    origin: SessionOrigin
    user: User
    grant: ScopeGrant | None = None
    provider_id: int | None = None
    app: ExtensionApp | None = None
    provider_token: ProviderToken | None = None
    amr: tuple[str, ...] = ()
    waiting_changes: str = ""
    client: ClientGrant | None = None


_DIRECT = (
    select(json_array_text(models.UserPermission.permission))
    .where(models.UserPermission.user_id == models.User.id)
    .scalar_subquery()
)
_GROUPS = (
    select(
        json_array_text(
            json_object(
                id=models.Group.id,
                name=models.Group.name,
                permissions=NESTED_GROUP_PERMISSIONS,
                restricted=models.Group.is_channel_restricted,
                channels=NESTED_GROUP_CHANNELS,
            )
        )
    )
    .join(models.GroupMember, models.GroupMember.group_id == models.Group.id)
    .where(models.GroupMember.user_id == models.User.id)
    .scalar_subquery()
)

USER_COLUMNS = (
    models.User.id.label("user_id"),
    models.User.email.label("user_email"),
    models.User.first_name.label("user_first_name"),
    models.User.last_name.label("user_last_name"),
    models.User.is_staff.label("user_is_staff"),
    models.User.is_active.label("user_is_active"),
    models.User.is_confirmed.label("user_is_confirmed"),
    models.User.is_superuser.label("user_is_superuser"),
    models.User.date_joined.label("user_date_joined"),
    models.User.updated_at.label("user_updated_at"),
    models.User.last_login.label("user_last_login"),
    _DIRECT.label("user_permissions"),
    _GROUPS.label("user_groups"),
    models.User.avatar.label("user_avatar"),
    models.User.time_zone.label("user_time_zone"),
    models.User.language_code.label("user_language_code"),
)
"""What ``read_user`` expects in a row."""

_user_values_in = attrgetter(*(column.name for column in USER_COLUMNS))

_WAITING = case(
    (
        models.Session.scope != "",
        select(models.IdentityProvider.waiting_changes)
        .where(
            models.IdentityProvider.id == models.Session.provider_id,
            exists().where(
                models.ExternalIdentity.id == models.Session.identity_id,
                models.ExternalIdentity.waiting_mark != "",
            ),
        )
        .correlate(models.Session)
        .scalar_subquery(),
    ),
    else_=null(),
)
"""What waits for confirmation at the provider that granted a session its rights meanwhile."""

_CLIENT = case(
    (
        models.Session.oauth_client_id.is_not(None),
        select(
            json_array_text(
                json_object(
                    id=models.OAuthClient.id,
                    first=models.IS_FIRST_PARTY,
                    scope=models.Session.oauth_scope,
                    allowed=models.OAuthClient.scopes,
                )
            )
        )
        .where(
            models.OAuthClient.id == models.Session.oauth_client_id,
            models.OAuthClient.is_active.is_(True),
        )
        .correlate(models.Session)
        .scalar_subquery(),
    ),
    else_=null(),
)
"""The client that a session was granted to as a JSON array, which is empty if it is inactive.

One with pairwise subjects is a third party.
"""

_NO_CLIENT = "[]"

SESSION_COLUMNS = (
    models.Session.id.label("session_id"),
    models.Session.origin.label("session_origin"),
    models.Session.scope.label("session_scope"),
    models.Session.provider_id.label("session_provider_id"),
    models.Session.amr.label("session_amr"),
    _WAITING.label("session_waiting_changes"),
    _CLIENT.label("session_client"),
    *USER_COLUMNS,
)
"""What ``read_session`` expects in a row."""

IN_SESSION = and_(
    models.Session.token == bindparam("session"), models.Session.user_id == bindparam("user_id")
)
OF_GRANT = and_(
    models.Session.token == bindparam("session"), models.Session.oauth_client_id.is_not(None)
)
"""The session of an OAuth client whose tokens don't name their person."""

IS_USER = and_(models.User.id == models.Session.user_id, models.User.is_active.is_(True))

OF_KEY = and_(
    models.Session.id == bindparam("session_id"), models.Session.user_id == bindparam("user_id")
)
"""The session that an actor names."""


@building_block
def session_query(
    condition: ColumnElement[bool], *columns: ColumnElement[Any]
) -> Select[*tuple[object, ...]]:
    """Return the query of ``columns`` of a session and its user, with the shop's state."""
    return (
        select(*SHOP_STATE_COLUMNS, *columns)
        .select_from(models.Shop)
        .outerjoin(models.Session, condition)
        .outerjoin(models.User, IS_USER)
        .where(models.Shop.id == models.SHOP_ID)
    )


_SESSION = session_query(IN_SESSION, *SESSION_COLUMNS)
_SESSION_OF_GRANT = session_query(OF_GRANT, *SESSION_COLUMNS)
_SESSION_OF_KEY = session_query(OF_KEY, *SESSION_COLUMNS)
_ALIVE = (
    models.Session.id.label("session_id"),
    _CLIENT.label("session_client"),
    models.User.id.label("user_id"),
)
_LIVING, _LIVING_OF_GRANT = session_query(IN_SESSION, *_ALIVE), session_query(OF_GRANT, *_ALIVE)


@building_block
def find_session(ports: Ports, session: str, user_id: int | None) -> Lookup[LiveSession | None]:
    """The live session with that claim ``token``, if it is that user's and the user is active.

    Without a user, it is that of an OAuth client alone.
    """
    query, values = _named(session, user_id, _SESSION, _SESSION_OF_GRANT)
    return live_session_in(ports, ports.database.read(query, values)[0])


@building_block
def find_session_again(ports: Ports, session_id: int, user_id: int) -> Lookup[LiveSession | None]:
    """Find a session as ``find_session`` does, by its key."""
    values = {"session_id": session_id, "user_id": user_id}
    return live_session_in(ports, ports.database.read(_SESSION_OF_KEY, values)[0])


@building_block
def live_session_in(ports: Ports, row: NamedRow) -> Lookup[LiveSession | None]:
    """Return the session in a row of a ``session_query`` with ``SESSION_COLUMNS``."""
    found = with_current_grant(ports, read_session(row))
    return Lookup(read_shop_state(row, ports.clock.now()), found)


def _named(
    session: str,
    user_id: int | None,
    of_person: Select[*tuple[object, ...]],
    of_grant: Select[*tuple[object, ...]],
) -> tuple[Select[*tuple[object, ...]], dict[str, object]]:
    if user_id is None:
        return of_grant, {"session": session}
    return of_person, {"session": session, "user_id": user_id}


@building_block
def session_exists(ports: Ports, session: str, user_id: int | None) -> Lookup[bool]:
    """Whether the session exists, without reading its user's permissions."""
    query, values = _named(session, user_id, _LIVING, _LIVING_OF_GRANT)
    row = ports.database.read(query, values)[0]
    state = read_shop_state(row, ports.clock.now())
    is_good = row.session_client != _NO_CLIENT
    return Lookup(state, is_good and row.session_id is not None and row.user_id is not None)


@building_block
def effective_user(found: LiveSession, switches: Switches) -> User:
    """Return the user of a session with the rights, and the role, that count in it right now.

    An extension of an app has those that both hold (contract, "Apps and extensions"), an OAuth
    client those that its scopes name.
    """
    user = with_effective_rights(found.user, found.origin, found.amr, switches, found.grant)
    client = found.client
    if client is not None:
        is_staff = user.is_staff and client.is_for_staff
        permissions = user.permissions & client.permissions
        user = replace(user, is_staff=is_staff, permissions=permissions)
    if found.app is None:
        return user
    return replace(user, permissions=user.permissions & found.app.granted)


@building_block
def shown_user(client: ClientGrant | None, user: User) -> User | None:
    """Return what ``client`` is shown of its person; ``None`` for nothing.

    A third party needs the scopes of all that belongs to the account itself, and sees its groups
    with ``staff``. First parties and people themselves see everything.
    """
    if client is None or client.is_first_party:
        return user
    if not client.covers(*ACCOUNT_SCOPES):
        return None
    return user if client.covers(STAFF_SCOPE) else replace(user, groups=())


ACCOUNT_SCOPES = ("profile", "email")
"""The scopes with which a third party sees a person's account."""


@building_block
def with_effective_rights(
    user: User,
    origin: SessionOrigin,
    amr: tuple[str, ...],
    switches: Switches,
    grant: ScopeGrant | None = None,
) -> User:
    """``user`` with the rights, and the role, that count in a session of ``origin`` and ``amr``.

    ``grant`` holds those that a provider gave, where it rules: they count instead of Latchkey's.
    """
    mode = switches.password_login_mode
    missing = lacks_second_factor(amr, required=switches.second_factor_required)
    stripped = missing or removes_staff_rights(mode, origin)
    if grant is None and not stripped:
        return user
    is_staff = not stripped and (user.is_staff if grant is None else grant.is_staff)
    scopes = None if grant is None else grant.permissions
    permissions = effective_permissions(
        user.permissions, mode=mode, origin=origin, scopes=scopes, second_factor_missing=missing
    )
    return replace(user, is_staff=is_staff, permissions=permissions)


@building_block
def with_current_grant(ports: Ports, found: LiveSession | None) -> LiveSession | None:
    """Return the session that ``read_session`` read, with the grant that counts now.

    What a provider granted while its settings wait for confirmation is limited to what those who
    changed them hold at this moment.
    """
    if found is None or found.grant is None or not found.waiting_changes:
        return found
    return replace(found, grant=grant_while_waiting(ports, found.waiting_changes, found.grant))


@building_block
def read_session(row: NamedRow, app: ExtensionApp | None = None) -> LiveSession | None:
    """Return the session in a row that has ``SESSION_COLUMNS``; ``None`` for one without its user.

    Also for one that was granted to an OAuth client that isn't active.

    ``app`` is the one whose extension the session's token is for.
    """
    if row.session_id is None or row.user_id is None or row.session_client == _NO_CLIENT:
        return None
    return LiveSession(
        session_id=row.session_id,
        origin=SessionOrigin(row.session_origin),
        user=read_user(row),
        grant=read_grant(row.session_scope),
        provider_id=row.session_provider_id,
        app=app,
        amr=read_methods(row.session_amr),
        waiting_changes=row.session_waiting_changes or "",
        client=None if row.session_client is None else _read_client(row.session_client),
    )


# Few combinations exist, and every request of a client reads one.
@lru_cache(maxsize=1024)
def _read_client(text: str) -> ClientGrant:
    (client,) = json.loads(text)
    allowed = set(client["scope"].split()) & set(client["allowed"].split())
    is_first_party = bool(client["first"])
    return read_client_grant(client["id"], " ".join(allowed), is_first_party=is_first_party)


@building_block
def read_user(row: NamedRow) -> User:
    """Return the person in a row of ``USER_COLUMNS``, raw or typed; only staff hold rights."""
    (
        key,
        email,
        first_name,
        last_name,
        is_staff,
        is_active,
        is_confirmed,
        is_superuser,
        date_joined,
        updated_at,
        last_login,
        direct,
        group_texts,
        avatar,
        time_zone,
        language_code,
    ) = _user_values_in(row)
    groups = _groups(group_texts)
    held = frozenset[Permission]()
    if is_staff:
        held = read_permissions(direct).union(*(group.permissions for group in groups))
        held = ALL_PERMISSIONS if is_superuser else held
    return User(
        id=key,
        email=email,
        first_name=first_name,
        last_name=last_name,
        is_staff=bool(is_staff),
        is_active=bool(is_active),
        is_confirmed=bool(is_confirmed),
        is_superuser=bool(is_superuser),
        date_joined=_required_moment(date_joined),
        updated_at=_required_moment(updated_at),
        last_login=moment(last_login),
        permissions=held,
        groups=groups,
        avatar=avatar,
        time_zone=time_zone,
        language_code=language_code,
    )


@building_block
def switches_of(shop: models.Shop, now: datetime) -> Switches:
    return Switches(
        PasswordLoginMode(shop.password_login_mode),
        shop.allow_storefront_traffic,
        is_second_factor_required(shop.second_factor_from, now),
    )


@building_block
def stored_switches(ports: Ports, session: Session) -> Switches:
    """Return the shop's switches as this transaction sees them."""
    return switches_of(session.get_one(models.Shop, models.SHOP_ID), ports.clock.now())


def _required_moment(value: object) -> datetime:
    found = moment(value)
    if found is None:
        raise TypeError(f"{value!r} is no moment")
    return found


# Few combinations exist, and every request of staff reads one.
@lru_cache(maxsize=1024)
def _groups(text: str) -> tuple[Group, ...]:
    groups = (
        Group(
            group["id"],
            group["name"],
            known_permissions(group["permissions"]),
            frozenset(group["channels"]) if group["restricted"] else None,
        )
        for group in json.loads(text)
    )
    return tuple(sorted(groups, key=attrgetter("name", "id")))
