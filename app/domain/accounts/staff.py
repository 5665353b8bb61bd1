"""Who can be removed by a caller, which permissions must stay manageable, and groups' names."""

from collections.abc import Collection

from app.domain.accounts.users import MAX_GROUP_NAME_LENGTH, User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem
from app.domain.values.text_rules import line_problem


def deactivation_problem(actor: Actor, user: User) -> Problem | None:
    """Return why ``actor`` can't deactivate ``user``, or ``None``: themselves, or a superuser.

    The operator can deactivate superusers.
    """
    if actor.user_id == user.id:
        message = "You cannot deactivate your own account."
        return Problem("DEACTIVATE_OWN_ACCOUNT", message, "isActive")
    if user.is_superuser and not actor.is_trusted:
        message = "Cannot deactivate superuser's account."
        return Problem("DEACTIVATE_SUPERUSER_ACCOUNT", message, "isActive")
    return None


def activation_problem(actor: Actor, user: User) -> Problem | None:
    """Return why ``actor`` may not let ``user`` in again, or ``None``."""
    if user.is_superuser and not actor.is_trusted:
        message = "Cannot activate superuser's account."
        return Problem("ACTIVATE_SUPERUSER_ACCOUNT", message, "isActive")
    return None


def deletion_problem(actor: Actor, user: User, *, is_staff: bool) -> Problem | None:
    """Why ``actor`` may not delete ``user`` as one of the staff, or as a customer, or ``None``."""
    if user.is_staff and not is_staff:
        message = "Cannot delete a staff account: use `staffDelete`."
        return Problem("DELETE_STAFF_ACCOUNT", message, "id")
    if is_staff and not user.is_staff:
        message = "Cannot delete a non-staff user: use `customerDelete`."
        return Problem("DELETE_NON_STAFF_USER", message, "id")
    if actor.user_id == user.id:
        return Problem("DELETE_OWN_ACCOUNT", "You cannot delete your own account.", "id")
    if user.is_superuser and not actor.is_trusted:
        message = "Cannot delete superuser's account."
        return Problem("DELETE_SUPERUSER_ACCOUNT", message, "id")
    return None


def unmanageable_problem(
    before: frozenset[Permission], after: frozenset[Permission], field: str
) -> Problem | None:
    """Return why a change that leaves permissions without a manager is refused, or ``None``.

    ``before`` and ``after`` are what active staff with MANAGE_STAFF hold together: no one could
    grant what is lost. That includes MANAGE_STAFF itself, so the last staff manager stays.
    """
    abandoned = tuple(sorted(permission.value for permission in before - after))
    if not abandoned:
        return None
    message = "No one else could manage these permissions: {abandoned}."
    return Problem(
        "LEFT_NOT_MANAGEABLE_PERMISSION",
        message,
        field,
        permissions=abandoned,
        values={"abandoned": ", ".join(abandoned)},
    )


def group_name_problem(name: str) -> Problem | None:
    """Return why a group can't be called that, or ``None``: REQUIRED or INVALID on ``name``."""
    if not name:
        return Problem("REQUIRED", "Give the group a name.", "name")
    return line_problem(name, "name", max_length=MAX_GROUP_NAME_LENGTH)


def last_group_problem(actor: Actor, groups_left: int, field: str) -> Problem | None:
    """Return why ``actor`` can't leave a group, or ``None``: it is their last one."""
    if groups_left or not actor.is_user:
        return None
    message = "You cannot remove yourself from your last group."
    return Problem("CANNOT_REMOVE_FROM_LAST_GROUP", message, field)


def duplicate_problem(
    added: Collection[str], removed: Collection[str], field: str | None, kind: str
) -> Problem | None:
    """Return why one thing may not be both added and removed, or ``None``.

    ``kind`` is what they are: ``groups``, ``users`` or ``permissions``.
    """
    both = tuple(sorted(set(added) & set(removed)))
    if not both:
        return None
    message = "The same object cannot be in both list for adding and removing items."
    named = {"groups": (), "users": (), "permissions": ()} | {kind: both}
    return Problem(
        "DUPLICATED_INPUT_ITEM",
        message,
        field,
        permissions=named["permissions"],
        groups=named["groups"],
        users=named["users"],
    )
