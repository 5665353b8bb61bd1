"""Apps: integrations with permissions of their own, and their tokens."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem

DEFAULT_OVERLAP = timedelta(hours=24)
"""How long a token that has been rotated goes on working, unless somebody says otherwise."""

MAX_OVERLAP = timedelta(days=30)

EXPIRED_TOKEN_KEPT = timedelta(days=30)
"""How long a token that has expired can still be seen: whoever misses it finds out why."""

MAX_LIFETIME = timedelta(days=36_525)
"""How far ahead a token may end: not every database and client reads the year 9999 alike."""


class AppType(StrEnum):
    """``LOCAL`` was created here, ``THIRDPARTY`` installed from its manifest."""

    LOCAL = "LOCAL"
    THIRDPARTY = "THIRDPARTY"


class AppSortField(StrEnum):
    """The sort orders of apps."""

    NAME = "NAME"
    CREATION_DATE = "CREATION_DATE"


@dataclass(frozen=True, slots=True)
class App:
    """An app and its permissions; the manifest's fields are empty for a local app."""

    id: int
    name: str
    identifier: str
    type: AppType
    is_active: bool
    created_at: datetime
    permissions: frozenset[Permission]
    about: str = ""
    author: str = ""
    version: str = ""
    audience: str = ""
    app_url: str = ""
    data_privacy_url: str = ""
    homepage_url: str = ""
    manifest_url: str = ""
    support_url: str = ""


@dataclass(frozen=True, slots=True)
class AppToken:
    """An app's token, without its secret.

    ``expires_at`` is ``None`` for no expiry, ``permissions`` for all of the app's, ``replaced_at``
    if it wasn't rotated. ``awaits_first_use`` if it was imported from another installation and
    hasn't been used here yet.
    """

    id: int
    app_id: int
    name: str
    last_four: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    last_used_address: str = ""
    permissions: frozenset[Permission] | None = None
    replaced_at: datetime | None = None
    awaits_first_use: bool = False


@dataclass(frozen=True, slots=True)
class NewAppToken:
    """A new token; ``secret`` is shown once."""

    token: AppToken
    secret: str = field(repr=False)


def grantable_problem(
    permissions: Iterable[Permission], field: str = "permissions"
) -> Problem | None:
    """Return why no app can hold ``permissions``, or ``None``."""
    if Permission.MANAGE_APPS not in permissions:
        return None
    message = "Apps can't have MANAGE_APPS."
    return Problem(
        "OUT_OF_SCOPE_PERMISSION", message, field, permissions=(Permission.MANAGE_APPS,)
    )


def token_permissions(
    granted: frozenset[Permission], narrowed: frozenset[Permission] | None
) -> frozenset[Permission]:
    """Return a token's permissions: those ``granted`` to its app, within the token's limit."""
    return granted if narrowed is None else granted & narrowed


def narrowing_problem(
    granted: frozenset[Permission], narrowed: frozenset[Permission] | None
) -> Problem | None:
    """Why a token of an app that is ``granted`` so much cannot be made for ``narrowed``."""
    beyond = tuple(sorted(permission.value for permission in (narrowed or frozenset()) - granted))
    if not beyond:
        return None
    message = "The app doesn't have {beyond}."
    return Problem(
        "INVALID_PERMISSION",
        message,
        "permissions",
        permissions=beyond,
        values={"beyond": ", ".join(beyond)},
    )


def expiry_problem(expires_at: datetime | None, now: datetime) -> Problem | None:
    """Why a token made now cannot end at ``expires_at``, or ``None``."""
    if expires_at is None:
        return None
    if expires_at <= now:
        return Problem("INVALID", "Must be in the future.", "expiresAt")
    if expires_at > now + MAX_LIFETIME:
        message = "Must be within 100 years."
        return Problem("INVALID", message, "expiresAt")
    return None


def overlap_problem(overlap: timedelta) -> Problem | None:
    """Why a rotated token cannot go on for ``overlap``, or ``None``."""
    if timedelta(0) <= overlap <= MAX_OVERLAP:
        return None
    message = "Must be between 0 and {total_seconds} seconds."
    return Problem(
        "INVALID",
        message,
        "overlapSeconds",
        values={"total_seconds": int(MAX_OVERLAP.total_seconds())},
    )


def rotation_problem(token: AppToken, now: datetime) -> Problem | None:
    """Why nothing can take the place of ``token`` now, or ``None``."""
    if token.replaced_at is not None:
        return Problem("INVALID", "This token was already rotated.", "id")
    if token.expires_at is not None and token.expires_at <= now:
        return Problem("INVALID", "This token has expired. Create a new one.", "id")
    return None


def rotated_end(token: AppToken, now: datetime, overlap: timedelta) -> datetime:
    """When ``token`` ends that is replaced now: after ``overlap``, or sooner by itself."""
    end = now + overlap
    return end if token.expires_at is None else min(end, token.expires_at)


def successor_end(token: AppToken, now: datetime) -> datetime | None:
    """When the token ends that replaces ``token`` now: it is good for as long as that one was."""
    return None if token.expires_at is None else now + (token.expires_at - token.created_at)
