"""Languages of people, by the codes of the Unicode locale data (CLDR), of pages and of emails.

`make docs` prints ``language_names.txt`` from that data, which is Unicode's, under its license:
https://www.unicode.org/license.txt
"""

from collections.abc import Collection, Mapping
from pathlib import Path

_LINES = (Path(__file__).parent / "language_names.txt").read_text(encoding="utf-8").splitlines()

LANGUAGE_NAMES: Mapping[str, str] = dict(line.split(" ", 1) for line in _LINES)
"""The English name of each language by its code: ``PT_BR`` is "Portuguese (Brazil)"."""

SHIPPED_LANGUAGES: Mapping[str, str] = {
    "EN": "English",
    "DE": "Deutsch",
    "FR": "Français",
    "ES": "Español",
    "PL": "Polski",
    "AR": "العربية",
}
"""Each language by its code, in its own words."""

ENGLISH = "en"

CONSOLE_TAGS = (ENGLISH, "de", "fr", "es", "pl")
"""The languages of the console."""

SIGNED_OUT_TAGS = (*CONSOLE_TAGS, "ar")
"""The languages of emails, of customers' pages, and of the pages before staff sign in."""


def shipped_tag(code: str, shipped: Collection[str] = SIGNED_OUT_TAGS) -> str:
    """Return the shipped language of a ``LanguageCodeEnum``; empty if there is none.

    A language of a country is written in the language itself: ``DE_AT`` in ``de``.
    """
    tag = code.lower().replace("-", "_").partition("_")[0]
    return tag if tag in shipped else ""
