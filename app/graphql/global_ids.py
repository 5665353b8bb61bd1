"""Global ids that a client sends, read so that nobody learns more from them than they may."""

from app.domain.values.ids import parse_global_id, parse_key

NO_KEY = 0
"""What nothing has for a key: nothing will be found by it."""


def key_in(global_id: str, type_name: str) -> int:
    """The key in a global id of that type, or one that nothing has.

    So that whoever may not ask at all is told that, and not whether their id makes sense.
    """
    parsed = parse_global_id(global_id)
    if parsed is None or parsed[0] != type_name:
        return NO_KEY
    return parse_key(parsed[1]) or NO_KEY
