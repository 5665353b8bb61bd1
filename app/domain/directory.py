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


@dataclass(frozen=True, slots=True)
class UserFilter:
    """Who is wanted. ``ids`` are global ids; ``search`` is for the beginnings of words.

    Whoever matches a search is listed by the word that matched, so it leaves no room for ``sort``.
    """

    search: str = ""
    is_active: bool | None = None
    ids: tuple[str, ...] | None = None
    sort: UserSort | None = None
    descending: bool = False
