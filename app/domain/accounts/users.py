"""People and permission groups, as use cases return them."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.authorization.permissions import Permission
from app.domain.values.unchanging import unchanging

DEFAULT_LANGUAGE = "EN"
"""The language of people who haven't chosen one."""


NO_KEY = 0
"""The key of a user who isn't stored."""


@dataclass(frozen=True, slots=True)
class Group:
    """A permission group and its permissions."""

    id: int
    name: str
    permissions: frozenset[Permission] = frozenset()


@unchanging
class User:
    """A person, with what they may do and the groups they are in.

    ``permissions`` are the effective ones: those of the groups and direct grants (every one for a
    superuser), less what the login mode takes from the session that is looking; ``is_staff`` is
    false in a session that works as a customer's (contract, "Modes, precisely"). ``avatar`` names
    the picture, empty without one; ``time_zone`` is an IANA name, ``None`` for UTC.
    ``language_code`` is one of ``LANGUAGE_NAMES``.
    """

    id: int
    email: str
    first_name: str
    last_name: str
    is_staff: bool
    is_active: bool
    is_confirmed: bool
    is_superuser: bool
    date_joined: datetime
    updated_at: datetime
    last_login: datetime | None
    permissions: frozenset[Permission] = frozenset()
    groups: tuple[Group, ...] = ()
    avatar: str = ""
    time_zone: str | None = None
    language_code: str = DEFAULT_LANGUAGE
