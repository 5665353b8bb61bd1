"""Check whether a caller can manage a user: by permission, and by the user's permissions."""

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, is_manageable
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import to_global_id
from app.services.authorization.register import part

NEEDED = {True: Permission.MANAGE_STAFF, False: Permission.MANAGE_USERS}
"""What it takes to manage staff (``True``) and customers."""


@part
def require_manage_permission(actor: Actor, *, is_staff: bool) -> None:
    """Raise unless ``actor`` manages that kind of people; no app ever manages staff."""
    if not actor.holds(NEEDED[is_staff]) or (is_staff and actor.is_app):
        raise PermissionDenied(NEEDED[is_staff])


@part
def require_manageable(actor: Actor, user: User) -> None:
    """Raise unless ``actor`` manages that kind of people; refuse OUT_OF_SCOPE_USER on ``id``."""
    require_manage_permission(actor, is_staff=user.is_staff)
    if not is_manageable(actor, user.permissions):
        message = "You can't manage this user: they have permissions that you don't have."
        users = (to_global_id("User", user.id),)
        raise Refused(Problem("OUT_OF_SCOPE_USER", message, "id", users=users))
