"""Short names for tests of staff: permissions, IDs, the invitation's page."""

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id

STAFF = Permission.MANAGE_STAFF
USERS = Permission.MANAGE_USERS
ORDERS = Permission.MANAGE_ORDERS
PAGES = Permission.MANAGE_PAGES
REDIRECT = "http://localhost:3000/invited"


def gid(key: int, kind: str = "User") -> str:
    """Return a global ID."""
    return to_global_id(kind, key)


def groups(*keys: int) -> tuple[str, ...]:
    """Return the global IDs of groups."""
    return tuple(to_global_id("Group", key) for key in keys)
