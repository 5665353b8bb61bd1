"""Version ranges in manifests, in npm's syntax: ``^3.20``, ``>=3.22 <4``, ``3.21.x || 3.23``."""

import re

from nodesemver import make_range

_MAX_LENGTH = 256
_LONG_NUMBER = re.compile(r"\d{7,}")
_SUFFIX = re.compile(r"(?<=[\dxX*])[-+][0-9A-Za-z.+-]*")


def is_within(version: str, text: str) -> bool:
    """Return whether ``version`` (such as ``3.23``) is in the range ``text``.

    Pre-releases and builds in a range count as the release they belong to, unlike in npm: the
    interface has no pre-releases. Raises ``ValueError`` if ``text`` is not a range.
    """
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"a version range has at most {_MAX_LENGTH} characters")
    if _LONG_NUMBER.search(text):
        raise ValueError(f"{text!r} is not a version range: a number has at most 6 digits")
    try:
        range_ = make_range(_SUFFIX.sub("", text), loose=False)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a version range") from error
    return bool(range_.test(_with_three_numbers(version)))


def _with_three_numbers(version: str) -> str:
    return version + ".0" * (2 - version.count("."))
