"""Texts that may be opened in a spreadsheet."""

import re

_SIGNS = r"=+\-@\uFF1D\uFF0B\uFF0D\uFF20"
"""What formulas begin with, also as wide letters."""

_BLANKS = r"\s\"\uFEFF\u200B-\u200F\u2060-\u2064"
_CELL_START = r"(?:\A|(?<=[;\t\n])|(?<=\r)(?!\n))"
"""Where a cell can begin: programs whose separator is ``;`` or a tab split a cell there.

They don't see that it is quoted, because a comma doesn't begin a cell for them.
"""

_NUMBER = r"[+-]\d+(?:[.,]\d+)?(?=[;\t\r\n]|\Z)"
_FORMULA = re.compile(rf"{_CELL_START}(?!{_NUMBER})(?=[{_BLANKS}]*[{_SIGNS}])|\A(?=[\t\r])")


def safe_cell(value: str) -> str:
    """Return ``value`` as the cell of a CSV file that no spreadsheet runs as a formula.

    An apostrophe in front makes it a text (OWASP, "CSV injection"). Numbers stay as they are.
    """
    return _FORMULA.sub("'", value)
