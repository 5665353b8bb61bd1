"""JSON that others send us: read strictly, and what of it can be kept and shown again."""

import codecs
import json
from collections import Counter
from collections.abc import Mapping

from app.domain.values.text_rules import is_storable

_DEEPEST = 20
_MAX_INTEGER = 2**53
"""Beyond it the readers of JSON no longer agree on a number."""

BOM = codecs.BOM_UTF8
"""A mark that some editors write before UTF-8; readers can skip it (RFC 8259, 8.1)."""

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NoJsonObject(ValueError):
    """The data isn't a JSON object; the text says what is wrong, as a predicate."""

    def sentence(self, endpoint: str) -> str:
        """Return what is wrong with the response of ``endpoint``; see ``failures.SENTENCES``."""
        return f"{endpoint} {self}."


def read_json_object(data: bytes) -> Mapping[str, object]:
    """The JSON object in ``data``, with or without a byte order mark; raises ``NoJsonObject``.

    A member that appears twice is refused at any depth: two readers could each believe another
    one (RFC 8725, 2.4). So are ``NaN`` and ``Infinity``, which are no JSON.
    """
    if not data.strip():
        raise NoJsonObject("returned an empty response")
    if data.startswith(UTF_16_MARKS):
        raise NoJsonObject("returned JSON in UTF-16; it must be UTF-8")
    try:
        members = _JSON.decode(data.removeprefix(BOM).decode())
    except _AppearsTwice as twice:
        raise NoJsonObject(f"returned JSON in which {twice} appears twice") from None
    except (ValueError, RecursionError):
        raise NoJsonObject(_NO_OBJECT) from None
    if not isinstance(members, dict):
        raise NoJsonObject(_NO_OBJECT)
    return members


class _AppearsTwice(ValueError):
    pass


_NO_OBJECT = "didn't return a JSON object"
_MAX_SHOWN_NAME = 40


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _AppearsTwice(repr(twice[:_MAX_SHOWN_NAME]))
    return members


def _no_number(literal: str) -> object:
    raise ValueError(f"{literal} is not a JSON number")


_JSON = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


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
