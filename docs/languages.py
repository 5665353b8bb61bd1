"""The table of languages in ``app.domain.accounts``, printed from Babel's copy of the CLDR.

The application doesn't import Babel: reading English names takes 5 MiB in every process.
"""

import re

from babel import Locale
from babel.localedata import locale_identifiers

_FORMER = ("kok_IN",)
"""Identifiers of earlier data, which Saleor's clients know."""

_NOT_A_COUNTRY = re.compile(r"_(\d{3}|POSIX)$")


def printed_languages() -> str:
    """Return a line with code and English name of each language that has locale data."""
    english = Locale("en")
    names = [
        f"{identifier.upper()} {Locale.parse(identifier).get_display_name(english) or identifier}"
        for identifier in sorted((*locale_identifiers(), *_FORMER))
        if _NOT_A_COUNTRY.search(identifier) is None
    ]
    return "\n".join((*names, ""))
