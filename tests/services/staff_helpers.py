"""What tests of the staff say in short: permissions, ids, the page that an invitation leads to."""

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id

STAFF = Permission.MANAGE_STAFF
USERS = Permission.MANAGE_USERS
ORDERS = Permission.MANAGE_ORDERS
PAGES = Permission.MANAGE_PAGES
REDIRECT = "http://localhost:3000/invited"


def gid(key: int, kind: str = "User") -> str:
    """The global id of somebody, or of something."""
    return to_global_id(kind, key)


def groups(*keys: int) -> tuple[str, ...]:
    """The global ids of groups."""
    return tuple(to_global_id("Group", key) for key in keys)
