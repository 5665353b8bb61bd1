"""What requests say, by type.

A part of a path that doesn't fit is no page (404) and reaches no use case. In a query string or a
form it counts as not said: ``request.args.get("app", type=row_key)``.
"""

from collections.abc import Callable, Collection
from datetime import date

from flask import Flask
from typing_extensions import override
from werkzeug.routing import BaseConverter

from app.domain.values.ids import MAX_KEY_LENGTH, parse_key
from app.domain.values.pages import parse_day


class KeyConverter(BaseConverter):
    """``<key:name>``: the integer key of a row; ASCII digits that fit every database's integer."""

    regex = rf"[0-9]{{1,{MAX_KEY_LENGTH}}}"

    @override
    def to_python(self, value: str) -> int:
        return int(value)


class SlugConverter(BaseConverter):
    """``<slug:name>``: a short name of letters, digits, dots, hyphens and underscores."""

    regex = r"[A-Za-z0-9._-]{1,128}"


def row_key(text: str) -> int:
    """The integer key of a row; a ``ValueError`` for what can be none."""
    key = parse_key(text.strip())
    if key is None:
        raise ValueError(text)
    return key


def day(text: str) -> date:
    """A day such as ``2026-03-01``; a ``ValueError`` for other texts."""
    parsed = parse_day(text.strip())
    if parsed is None:
        raise ValueError(text)
    return parsed


def one_of(words: Collection[str]) -> Callable[[str], str]:
    """The type of a value that is one of ``words``."""

    def word(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return word


def register_converters(app: Flask) -> None:
    """Make the converters known to the routes that are added to ``app`` from now on."""
    app.url_map.converters |= {"key": KeyConverter, "slug": SlugConverter}
