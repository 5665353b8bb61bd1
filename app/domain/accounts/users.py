"""People and permission groups, as use cases return them, and rules for their details.

Who sees what belongs to an account, and what remains of it in logs after an erasure, is here too.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import available_timezones

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Problem
from app.domain.values.text_rules import line_problem, prose_problem
from app.domain.values.unchanging import unchanging

DEFAULT_LANGUAGE = "EN"
"""The language of people who haven't chosen one."""

MAX_GROUP_NAME_LENGTH = 150
NO_KEY = 0
"""The key of a user who isn't stored."""


@dataclass(frozen=True, slots=True)
class Group:
    """A permission group and its permissions.

    ``channel_ids`` are the channels that its members have access to, ``None`` for all of them.
    """

    id: int
    name: str
    permissions: frozenset[Permission] = frozenset()
    channel_ids: frozenset[int] | None = None


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

    @property
    def channel_ids(self) -> frozenset[int] | None:
        """Return the channels the person manages something in, ``None`` for all of them.

        Their groups decide, as in Saleor: one without a restriction is enough for all channels.
        Without a group, permissions that are held directly hold in all channels.
        """
        if self.is_superuser:
            return None
        if not self.groups:
            return None if self.permissions else frozenset()
        reached: set[int] = set()
        for group in self.groups:
            if group.channel_ids is None:
                return None
            reached |= group.channel_ids
        return frozenset(reached)


def name_problems(first_name: str, last_name: str) -> list[Problem]:
    """Return the names' problems: INVALID on ``firstName``, ``lastName``; empty ones are allowed.

    Line breaks and control characters are refused: mails greet with names.
    """
    problems = (line_problem(first_name, "firstName"), line_problem(last_name, "lastName"))
    return [problem for problem in problems if problem is not None]


MAX_NOTE_LENGTH = 10_000
MAX_REFERENCE_LENGTH = 250


def note_problems(note: str, external_reference: str) -> list[Problem]:
    """Return the problems: INVALID on ``note`` and ``externalReference``; empty ones are fine."""
    problems = (
        prose_problem(note, "note", max_length=MAX_NOTE_LENGTH),
        line_problem(external_reference, "externalReference", max_length=MAX_REFERENCE_LENGTH),
    )
    return [problem for problem in problems if problem is not None]


_ZONE_AREAS = (
    "Africa",
    "America",
    "Antarctica",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)
"""Other names are old ones of the same zones."""


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of all zones, by area and city."""
    names = (name for name in available_timezones() if name.partition("/")[0] in _ZONE_AREAS)
    return tuple(sorted(names))


def time_zone_problem(name: str | None) -> Problem | None:
    """Return why ``name`` can't be a person's time zone, or ``None``; no name is UTC."""
    if name is None or name in time_zones():
        return None
    return Problem("INVALID", "Choose a time zone from the list.", "timeZone")


AVATAR_SIZES = (64, 128, 256, 512)
"""Pixels of a side; every picture is a square."""

MAX_AVATAR_SIZE = 5 * 1024 * 1024
"""Bytes of a file that a picture may be made of."""

AVATAR_NAME_LENGTH = 32
"""Random letters and digits: 190 bits, so that names can't be guessed."""

_AVATAR_FILE = re.compile(r"([A-Za-z0-9]{32})-([1-9][0-9]{1,2})\.webp")


def nearest_avatar_size(requested: int | None) -> int:
    """Return the smallest size with ``requested`` pixels or more; the largest for ``None``."""
    return next(
        (size for size in AVATAR_SIZES if requested is not None and size >= requested),
        AVATAR_SIZES[-1],
    )


def avatar_path(name: str, requested: int | None) -> str:
    """Return where the picture of that name is served, in the size that serves best."""
    return f"/media/avatars/{name}-{nearest_avatar_size(requested)}.webp"


def read_avatar_file(file: str) -> tuple[str, int] | None:
    """Name and size in the last part of an address, or ``None`` for what is no picture's."""
    found = _AVATAR_FILE.fullmatch(file)
    if found is None or int(found[2]) not in AVATAR_SIZES:
        return None
    return found[1], int(found[2])


ACCOUNT_READERS = {
    True: (Permission.MANAGE_STAFF,),
    False: (Permission.MANAGE_USERS, Permission.MANAGE_ORDERS),
}
"""The permissions that each show what belongs to staff (``True``) and customers."""


def sees_account(
    actor: Actor, user_id: int, *, is_staff: bool, proven: Collection[int] = ()
) -> bool:
    """Whether ``actor`` sees what belongs to that user: their own, or by a permission.

    ``proven`` are keys of users whose password, token or link the same request has proven.
    """
    if actor.is_trusted or actor.user_id == user_id or user_id in proven:
        return True
    return any(actor.holds(permission) for permission in ACCOUNT_READERS[is_staff])


def require_sees_account(
    actor: Actor, user_id: int, *, is_staff: bool, proven: Collection[int] = ()
) -> None:
    """Raise ``PermissionDenied`` unless ``actor`` sees the account."""
    if not sees_account(actor, user_id, is_staff=is_staff, proven=proven):
        raise PermissionDenied(*ACCOUNT_READERS[is_staff])


ERASED = "[erased]"
"""What takes the place of a text that was about the person."""

_KEPT_IN_ERASURE = frozenset({"permissions", "add_permissions", "remove_permissions", "groups"})
"""Fields with words of the program, not of the person."""


def pseudonym_of(user_id: int) -> str:
    """Return the name that entries of an erased person have instead."""
    return f"User {user_id}"


def pseudonymous_email(user_id: int) -> str:
    """Return the email of an erased person's orders, which no account can have."""
    return f"user-{user_id}@erased.invalid"


def without_texts(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of an audit entry about a person, with their texts erased.

    Flags, numbers and permissions stay: the entry still says what was changed, but not on which
    account.
    """
    return {
        name: value if name in _KEPT_IN_ERASURE else _erased(value)
        for name, value in values.items()
    }


def _erased(value: object) -> object:
    if isinstance(value, str):
        return ERASED if value else value
    if isinstance(value, list):
        return [_erased(item) for item in value]
    if isinstance(value, dict):
        # Keys of metadata are the person's as well.
        return ERASED if value else value
    return value
