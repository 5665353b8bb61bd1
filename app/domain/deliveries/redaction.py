"""Removing secrets from text that other servers sent, in the encodings that echo services use."""

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote, quote_plus

REDACTED = "(hidden)"
"""What stands in place of a secret."""

MIN_SECRET_LENGTH = 4
"""Characters below which a value is not taken for a secret: it would be found by accident."""

_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""What many JSON encoders escape that need not be."""


@dataclass(frozen=True, slots=True)
class Redactor:
    """Replaces secrets in a text, ignoring case; ``max_length`` is the longest form's."""

    _forms: tuple[str, ...] = field(default=(), repr=False)
    _pattern: re.Pattern[str] | None = field(default=None, repr=False)
    max_length: int = 0

    def __call__(self, text: str, *, is_cut: bool = False) -> str:
        """``text`` without the secrets.

        Where it ``is_cut``, its end could be the beginning of one and is dropped.
        """
        if self._pattern is None:
            return text
        clean = text
        lower = text.lower()
        # Nearly no answer holds one, and that is found out a hundred times as fast like this.
        if any(form in lower for form in self._forms):
            clean = self._pattern.sub(REDACTED, text)
        return clean[: -self.max_length] if is_cut else clean


@lru_cache(maxsize=256)
def redactor(secrets: tuple[str, ...]) -> Redactor:
    """The redactor of ``secrets``; values shorter than ``MIN_SECRET_LENGTH`` are left alone."""
    forms = {
        form
        for secret in secrets
        for part in _parts(secret)
        if len(part) >= MIN_SECRET_LENGTH
        for form in _encodings(part)
    }
    if not forms:
        return Redactor()
    by_length = sorted(forms, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, by_length)), re.IGNORECASE)
    return Redactor(tuple({form.lower() for form in forms}), pattern, len(by_length[0]))


def _parts(secret: str) -> Iterator[str]:
    """The value itself, without its scheme (``Bearer``), and without a signing key's prefix."""
    yield secret
    yield secret.partition(" ")[2]
    yield secret.removeprefix("whsec_")


def _encodings(secret: str) -> Iterator[str]:
    raw = secret.encode()
    yield secret
    yield from (encode(secret) for encode in _QUOTED)
    yield raw.hex()
    for shift in range(3):
        # What of a longer text's Base64 depends on the secret alone, at each place it can have.
        encoded = base64.b64encode(bytes(shift) + raw).decode()
        within = encoded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
        yield within
        yield within.replace("+", "-").replace("/", "_")


def _as_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _as_html(text: str) -> str:
    return html.escape(text, quote=False)


_QUOTED: tuple[Callable[[str], str], ...] = (
    quote,
    lambda text: quote(text, safe=""),
    quote_plus,
    _as_json,
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: _as_json(text).replace("/", "\\/"),
    lambda text: _as_json(text).translate(_ESCAPED),
    _as_html,
    html.escape,
    lambda text: html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
)
