"""Parts of URL paths by type: what doesn't fit is no page (404) and reaches no use case."""

from flask import Flask
from typing_extensions import override
from werkzeug.routing import BaseConverter

from app.domain.values.ids import MAX_KEY_LENGTH


class KeyConverter(BaseConverter):
    """``<key:name>``: the integer key of a row; ASCII digits that fit every database's integer."""

    regex = rf"[0-9]{{1,{MAX_KEY_LENGTH}}}"

    @override
    def to_python(self, value: str) -> int:
        return int(value)


class SlugConverter(BaseConverter):
    """``<slug:name>``: a short name of letters, digits, dots, hyphens and underscores."""

    regex = r"[A-Za-z0-9._-]{1,128}"


def register_converters(app: Flask) -> None:
    """Make the converters known to the routes that are added to ``app`` from now on."""
    app.url_map.converters |= {"key": KeyConverter, "slug": SlugConverter}
