"""No one grants permissions that they lack (contract, "Staff and permissions")."""

from collections.abc import Iterable

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import Problem


def grant_problem(
    actor: Actor, permissions: Iterable[Permission], field: str = "permissions"
) -> Problem | None:
    """Return why ``actor`` can't grant ``permissions``, or ``None``."""
    beyond = _not_held(actor, permissions)
    if not beyond:
        return None
    message = "You can't add permission that you don't have: {beyond}."
    return Problem(
        "OUT_OF_SCOPE_PERMISSION",
        message,
        field,
        permissions=beyond,
        values={"beyond": ", ".join(beyond)},
    )


def withdrawal_problem(
    actor: Actor, permissions: Iterable[Permission], field: str
) -> Problem | None:
    """Return why ``actor`` can't revoke ``permissions``, or ``None``."""
    beyond = _not_held(actor, permissions)
    if not beyond:
        return None
    message = "You can't remove permission that you don't have: {beyond}."
    return Problem(
        "OUT_OF_SCOPE_PERMISSION",
        message,
        field,
        permissions=beyond,
        values={"beyond": ", ".join(beyond)},
    )


def manage_problem(actor: Actor, permissions: Iterable[Permission]) -> Problem | None:
    """Why ``actor`` may not manage a group that gives ``permissions``, or ``None``."""
    beyond = _not_held(actor, permissions)
    if not beyond:
        return None
    message = "You can't manage a group with permissions you don't have: {beyond}."
    return Problem(
        "OUT_OF_SCOPE_PERMISSION",
        message,
        "id",
        permissions=beyond,
        values={"beyond": ", ".join(beyond)},
    )


def is_manageable(actor: Actor, permissions: Iterable[Permission]) -> bool:
    """Whether ``actor`` can manage a user or app that holds ``permissions``."""
    return not _not_held(actor, permissions)


def holds_all_permissions(actor: Actor) -> bool:
    """Whether ``actor`` holds everything: a superuser, or the operator."""
    return actor.permissions >= ALL_PERMISSIONS


def _not_held(actor: Actor, permissions: Iterable[Permission]) -> tuple[str, ...]:
    return tuple(sorted(permission.value for permission in set(permissions) - actor.permissions))
