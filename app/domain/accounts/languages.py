"""Languages in which people can be addressed, by the codes of the Unicode locale data (CLDR)."""

import re
from collections.abc import Mapping

from babel import Locale
from babel.localedata import locale_identifiers

_NOT_A_COUNTRY = re.compile(r"_(\d{3}|POSIX)$")
_ENGLISH = Locale("en")

LANGUAGE_NAMES: Mapping[str, str] = {
    name.upper(): Locale.parse(name).get_display_name(_ENGLISH) or name
    for name in sorted(locale_identifiers())
    if _NOT_A_COUNTRY.search(name) is None
}
"""The English name of each language by its code: ``PT_BR`` is "Portuguese (Brazil)"."""
