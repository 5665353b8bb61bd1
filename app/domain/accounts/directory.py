"""Which people a list shows, and in which order."""

from dataclasses import dataclass
from enum import StrEnum


class UserSort(StrEnum):
    """What people can be listed by; without any, they go in the order they were added."""

    FIRST_NAME = "FIRST_NAME"
    LAST_NAME = "LAST_NAME"
    EMAIL = "EMAIL"
    CREATED_AT = "CREATED_AT"
    LAST_MODIFIED_AT = "LAST_MODIFIED_AT"


class SignInMethod(StrEnum):
    """How somebody can come in: by what they have, whatever the login mode lets them use.

    ``NO_SIGN_ON`` are all whom no provider that works lets in, with a password or without.
    """

    PASSWORD = "password"
    SINGLE_SIGN_ON = "sso"
    BOTH = "both"
    NEITHER = "neither"
    NO_SIGN_ON = "no-sso"

    @property
    def has_password(self) -> bool:
        return self in (SignInMethod.PASSWORD, SignInMethod.BOTH)

    @property
    def is_known_to_provider(self) -> bool:
        return self in (SignInMethod.SINGLE_SIGN_ON, SignInMethod.BOTH)


@dataclass(frozen=True, slots=True)
class UserFilter:
    """Who is wanted. ``ids`` are global ids; ``search`` is for the beginnings of words.

    ``group_id`` is the key of a group that they are in, ``signs_in_by`` what they have.
    Whoever matches a search is listed by the word that matched, so it leaves no room for ``sort``.
    """

    search: str = ""
    is_active: bool | None = None
    ids: tuple[str, ...] | None = None
    group_id: int | None = None
    signs_in_by: SignInMethod | None = None
    sort: UserSort | None = None
    descending: bool = False
