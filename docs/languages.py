"""The table of languages in ``app.domain.accounts``, printed from Babel's copy of the CLDR.

The application doesn't import Babel: reading English names takes 5 MiB in every process.
"""

import re
from textwrap import TextWrapper

from babel import Locale
from babel.localedata import locale_identifiers

_NOT_A_COUNTRY = re.compile(r"_(\d{3}|POSIX)$")
_LINES = TextWrapper(width=99, break_on_hyphens=False, break_long_words=False)
_MODULE = '''\
"""English names of languages by code, printed by ``make docs`` from the CLDR.

The Unicode locale data (CLDR) is Unicode's, under its license: https://www.unicode.org/license.txt
"""

TEXT = """\\
{table}
"""  # noqa: RUF001 - their apostrophes
'''


def printed_languages() -> str:
    """Return the module with the English name of each language that has locale data."""
    english = Locale("en")
    names = [
        f"{identifier.upper()} {Locale.parse(identifier).get_display_name(english) or identifier}"
        for identifier in sorted(locale_identifiers())
        if _NOT_A_COUNTRY.search(identifier) is None
    ]
    return _MODULE.format(table=_LINES.fill("; ".join(names)))
