"""Languages in which people can be addressed, by the codes of the Unicode locale data (CLDR)."""

from collections.abc import Mapping

from app.domain.accounts.language_names import TEXT


def _read(text: str) -> Mapping[str, str]:
    """Return what stands between semicolons: a code, a space and a name."""
    entries = (entry.partition(" ") for entry in " ".join(text.split()).split("; "))
    return {code: name for code, _, name in entries}


LANGUAGE_NAMES = _read(TEXT)
"""The English name of each language by its code: ``PT_BR`` is "Portuguese (Brazil)"."""
