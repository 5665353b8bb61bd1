"""JSON that others send us to keep and to show again."""

from collections.abc import Mapping

from app.domain.values.text_rules import is_storable

_DEEPEST = 20
_MAX_INTEGER = 2**53
"""Beyond it the readers of JSON no longer agree on a number."""


def is_keepable(value: object) -> bool:
    """Whether every store and every reader takes ``value``, decoded JSON, for the same."""
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if depth > _DEEPEST or not _is_plain(one):
            return False
        if isinstance(one, Mapping):
            waiting += [(member, depth + 1) for pair in one.items() for member in pair]
        elif isinstance(one, list):
            waiting += [(item, depth + 1) for item in one]
    return True


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return is_storable(value)
    if isinstance(value, int | float):
        return abs(value) < _MAX_INTEGER
    return True
