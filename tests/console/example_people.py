"""Accounts, groups and sessions for view models, without a database."""

from datetime import UTC, datetime

from app.domain.accounts.users import Group, User
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.devices import SignedIn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
APPS, ORDERS, STAFF = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_STAFF
ADA = User(
    id=1,
    email="ada@example.com",
    first_name="Ada",
    last_name="<i>",
    is_staff=False,
    is_active=True,
    is_confirmed=True,
    is_superuser=False,
    date_joined=NOW,
    updated_at=NOW,
    last_login=None,
)
SUPPORT = Group(1, "Support", frozenset({ORDERS}))
SESSION = SignedIn(
    id=5,
    device="Firefox on Linux",
    address="203.0.113.7",
    created_at=NOW,
    last_used_at=None,
    origin=SessionOrigin.OIDC,
    is_current=False,
)


def viewer(*permissions: Permission, user_id: int = 99) -> Actor:
    """Return a staff member who looks at a page."""
    return Actor(
        kind=ActorKind.USER, user_id=user_id, is_staff=True, permissions=frozenset(permissions)
    )
