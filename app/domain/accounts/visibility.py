"""Who sees what belongs to an account: its metadata and addresses."""

from collections.abc import Collection

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission

_CUSTOMER_READERS = (Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
_STAFF_READERS = (Permission.MANAGE_STAFF,)


def account_readers(*, is_staff: bool) -> tuple[Permission, ...]:
    """Return the permissions that each show what belongs to a member of staff, or a customer."""
    return _STAFF_READERS if is_staff else _CUSTOMER_READERS


def sees_account(actor: Actor, user: User, proven: Collection[int] = ()) -> bool:
    """Whether ``actor`` sees what belongs to ``user``: their own, or by a permission.

    ``proven`` are keys of users whose password, token or link the same request has proven.
    """
    return sees_account_of(actor, user.id, is_staff=user.is_staff, proven=proven)


def sees_account_of(
    actor: Actor, user_id: int, *, is_staff: bool, proven: Collection[int] = ()
) -> bool:
    """Whether ``actor`` sees what belongs to the user of that key, as ``sees_account`` says."""
    if actor.is_trusted or actor.user_id == user_id or user_id in proven:
        return True
    return any(actor.holds(permission) for permission in account_readers(is_staff=is_staff))
