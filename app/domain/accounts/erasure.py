"""What remains of entries about a person whose data is erased."""

from collections.abc import Mapping

ERASED = "[erased]"
"""What takes the place of a text that was about the person."""

_KEPT = frozenset({"permissions", "add_permissions", "remove_permissions", "groups"})
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
    return {name: value if name in _KEPT else _erased(value) for name, value in values.items()}


def _erased(value: object) -> object:
    if isinstance(value, str):
        return ERASED if value else value
    if isinstance(value, list):
        return [_erased(item) for item in value]
    if isinstance(value, dict):
        # Keys of metadata are the person's as well.
        return ERASED if value else value
    return value
