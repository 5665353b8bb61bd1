"""People, groups and their sessions."""

from collections.abc import Collection, Iterable

from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import Actor, SessionOrigin, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_log import SignInPlace
from app.domain.values.errors import TokenRejected
from app.ports import Ports
from app.services.authorization.session_rights import LiveSession, find_session
from app.services.authorization.shop_state import Lookup
from app.services.identity.identify import Visitor, identity_of_session
from app.services.sign_in.sessions import OpenedSession, SessionStart, open_session
from app.services.sign_in.tokens import TokenPair, sign_pair

PASSWORD = "correct horse battery staple"
ADDRESS = "203.0.113.7"
ISSUER = "http://localhost:8000/graphql/"
NOBODY = anonymous(address=ADDRESS, issuer=ISSUER)


def make_user(  # noqa: PLR0913 - a person has that many sides
    ports: Ports,
    email: str = "customer@example.com",
    *,
    password: str | None = PASSWORD,
    permissions: Iterable[Permission] = (),
    groups: Iterable[int] = (),
    is_staff: bool = False,
    is_superuser: bool = False,
    is_active: bool = True,
    is_confirmed: bool = True,
    first_name: str = "",
    last_name: str = "",
) -> int:
    """Store a user; return the key."""
    hashed = None if password is None else ports.passwords.hash(password)
    now = ports.clock.now()
    with ports.database.transaction() as session:
        user = models.User(
            email=email,
            password_hash=hashed,
            is_staff=is_staff or is_superuser,
            is_superuser=is_superuser,
            is_active=is_active,
            is_confirmed=is_confirmed,
            first_name=first_name,
            last_name=last_name,
            date_joined=now,
            updated_at=now,
        )
        session.add(user)
        session.flush()
        session.add_all(
            models.UserPermission(user_id=user.id, permission=permission.value)
            for permission in permissions
        )
        session.add_all(models.GroupMember(user_id=user.id, group_id=group) for group in groups)
        return user.id


def make_staff(ports: Ports, email: str = "staff@example.com", *permissions: Permission) -> int:
    """Store a staff member with ``permissions`` as direct grants; return the key."""
    return make_user(ports, email, is_staff=True, permissions=permissions)


def make_group(
    ports: Ports, name: str, *permissions: Permission, channels: Collection[int] | None = None
) -> int:
    """Store a permission group, restricted to ``channels`` unless ``None``; return the key."""
    with ports.database.transaction() as session:
        group = models.Group(name=name, is_channel_restricted=channels is not None)
        session.add(group)
        session.flush()
        session.add_all(
            models.GroupChannel(group_id=group.id, channel_id=key) for key in channels or ()
        )
        session.add_all(
            models.GroupPermission(group_id=group.id, permission=permission.value)
            for permission in permissions
        )
        return group.id


def sign_in(
    ports: Ports,
    user_id: int,
    origin: SessionOrigin = SessionOrigin.PASSWORD,
    caller: Actor = NOBODY,
    amr: tuple[str, ...] = (),
) -> TokenPair:
    """Open a session of that origin, whatever the login mode says, and return its tokens."""
    opened, live = _open(ports, user_id, SessionStart(origin, amr=amr), caller)
    assert live.found is not None
    return sign_pair(ports, caller, opened, live.found.user, live.shop_state.switches)


def actor_of(
    ports: Ports,
    user_id: int,
    origin: SessionOrigin = SessionOrigin.PASSWORD,
    place: SignInPlace = SignInPlace.API,
) -> Actor:
    """Return the actor of a new session of that origin, without signing its tokens."""
    visitor, start = visit(), SessionStart(origin, place=place)
    try:
        return identity_of_session(visitor, _open(ports, user_id, start, NOBODY)[1]).actor
    except TokenRejected as rejected:
        return anonymous(address=ADDRESS, issuer=ISSUER, fault=rejected.fault)


def _open(
    ports: Ports, user_id: int, start: SessionStart, caller: Actor
) -> tuple[OpenedSession, Lookup[LiveSession | None]]:
    with ports.database.transaction() as session:
        opened = open_session(ports, caller, session, user_id, start)
    live = find_session(ports, opened.token, user_id)
    assert live.found is not None, "an inactive user has no session"
    return opened, live


def visit(credential: str | None = None, address: str | None = ADDRESS) -> Visitor:
    """Return a visitor with that credential."""
    return Visitor(credential=credential, address=address, issuer=ISSUER)


def sessions_of(ports: Ports, user_id: int) -> list[models.Session]:
    """Return a user's sessions, the oldest first."""
    with ports.database.reading() as session:
        of_user = select(models.Session).where(models.Session.user_id == user_id)
        return list(session.scalars(of_user.order_by(models.Session.id)))


def user_as_stored(ports: Ports, user_id: int) -> models.User:
    """Return the row of an existing user."""
    with ports.database.reading() as session:
        return session.get_one(models.User, user_id)


def change_user(ports: Ports, user_id: int, **values: object) -> None:
    """Write ``values`` into a user's row, by column name."""
    with ports.database.transaction() as session:
        session.execute(update(models.User).where(models.User.id == user_id).values(**values))
