"""Global IDs from clients, read without revealing what they can't see."""

from app.domain.values.ids import parse_global_id, parse_key

NO_KEY = 0
"""A key that no record has."""


def key_in(global_id: str, type_name: str) -> int:
    """Return the key in a global ID of that type, or ``NO_KEY``.

    A caller without the permission gets that error, whether the ID is valid or not.
    """
    parsed = parse_global_id(global_id)
    if parsed is None or parsed[0] != type_name:
        return NO_KEY
    return parse_key(parsed[1]) or NO_KEY
