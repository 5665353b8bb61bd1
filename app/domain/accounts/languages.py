"""Languages in which people can be addressed, by the codes of the Unicode locale data (CLDR).

`make docs` prints ``language_names.txt`` from that data, which is Unicode's, under its license:
https://www.unicode.org/license.txt
"""

from collections.abc import Mapping
from pathlib import Path

_LINES = (Path(__file__).parent / "language_names.txt").read_text(encoding="utf-8").splitlines()

LANGUAGE_NAMES: Mapping[str, str] = dict(line.split(" ", 1) for line in _LINES)
"""The English name of each language by its code: ``PT_BR`` is "Portuguese (Brazil)"."""
