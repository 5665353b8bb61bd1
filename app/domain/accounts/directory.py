"""Which people a list shows, and in which order."""

from dataclasses import dataclass
from enum import StrEnum


class UserSort(StrEnum):
    """The sort orders of people; in the order they were added by default."""

    FIRST_NAME = "FIRST_NAME"
    LAST_NAME = "LAST_NAME"
    EMAIL = "EMAIL"
    CREATED_AT = "CREATED_AT"
    LAST_MODIFIED_AT = "LAST_MODIFIED_AT"


class SignInMethod(StrEnum):
    """How a person can sign in, whatever the login mode allows.

    ``NO_SIGN_ON`` are all without an identity at a working provider, with a password or without.
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
    """Conditions on people; ``ids`` are global ids, ``search`` matches the beginnings of words.

    ``group_id`` is the key of a group, ``signs_in_by`` a sign-in method. Matches of a search are
    sorted by the word that matched, so ``sort`` can't be used with it.
    """

    search: str = ""
    is_active: bool | None = None
    ids: tuple[str, ...] | None = None
    group_id: int | None = None
    signs_in_by: SignInMethod | None = None
    sort: UserSort | None = None
    descending: bool = False
