"""Ranges of versions as manifests write them: ``^3.20``, ``>=3.22 <4``, ``3.21.x || 3.23``."""

import re
from itertools import takewhile

Version = tuple[int, int, int]

_LONGEST = 256
_PLACES = 3
_NEVER: Version = (10**9, 0, 0)
_WILD = ("", "x", "X", "*")
_PART = r"(?:\d{1,6}|[xX*])"
_VERSION = rf"v?({_PART}(?:\.{_PART}){{0,2}})(?:[-+][0-9A-Za-z.+-]*)?"
_COMPARATOR = re.compile(rf"(\^|~>?|>=|<=|>|<|=)?\s*{_VERSION}(?:\s+|$)")
_HYPHEN = re.compile(rf"{_VERSION}\s+-\s+{_VERSION}")


def parse_version(text: str) -> Version:
    """The three numbers of ``3.23`` (the missing ones are 0)."""
    return _lowest(text)


def is_within(version: Version, text: str) -> bool:
    """Whether ``version`` is in the range; raises ``ValueError`` when ``text`` is none.

    As npm reads ranges, but for pre-releases, which count as the version that they precede.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a range of versions has at most {_LONGEST} characters")
    # All are read before any decides: one that fits must not hide another that makes no sense.
    fitting = [_fits(version, alternative.strip()) for alternative in text.split("||")]
    return any(fitting)


def _fits(version: Version, alternative: str) -> bool:
    hyphen = _HYPHEN.fullmatch(alternative)
    if hyphen is not None:
        return _lowest(hyphen[1]) <= version < _above(hyphen[2], _given(hyphen[2]))
    place, fits = 0, True
    while place < len(alternative):
        match = _COMPARATOR.match(alternative, place)
        if match is None:
            raise ValueError(f"{alternative!r} is no range of versions")
        lowest, above = _bounds(match[1] or "=", match[2])
        fits = fits and lowest <= version < above
        place = match.end()
    return fits


def _bounds(operator: str, text: str) -> tuple[Version, Version]:
    """The lowest version that fits, and the lowest above it that does not."""
    given, lowest = _given(text), _lowest(text)
    if operator == "^":
        # What may change is all behind the first number that is not 0.
        leading = len(list(takewhile(lambda number: number == 0, lowest[:given]))) + 1
        return lowest, _above(text, min(leading, given))
    if operator in ("~", "~>"):
        return lowest, _above(text, min(2, given))
    above = _above(text, given)
    return {
        "=": (lowest, above),
        ">=": (lowest, _NEVER),
        ">": (above, _NEVER),
        "<": ((0, 0, 0), lowest),
        "<=": ((0, 0, 0), above),
    }[operator]


def _given(text: str) -> int:
    """How many numbers stand in front of the first wildcard."""
    return len(list(takewhile(lambda part: part not in _WILD, text.split("."))))


def _lowest(text: str) -> Version:
    numbers = [int(part) for part in text.split(".")[: _given(text)]]
    major, minor, patch = (numbers + [0] * _PLACES)[:_PLACES]
    return major, minor, patch


def _above(text: str, places: int) -> Version:
    """The lowest version that differs from ``text`` in its first ``places`` numbers."""
    if places == 0:
        return _NEVER
    numbers = [*_lowest(text)[:places]]
    numbers[-1] += 1
    major, minor, patch = (numbers + [0] * _PLACES)[:_PLACES]
    return major, minor, patch
