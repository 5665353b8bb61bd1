"""How people are searched for: by the beginnings of words, whatever their case and accents."""

import re
import unicodedata

from app.domain.accounts.emails import normalize_email
from app.domain.values.text_rules import is_storable

MAX_WORD_LENGTH = 254
MAX_WORDS = 16
"""Words that one person is found by; and that one search looks for."""

_MAX_SEARCH_LENGTH = 4096
"""Characters of a search that are looked at; room for all words of the greatest length."""

_LAST = "\U0010ffff"
_INSIDE = re.compile(r"[-'\u2019.]")


def fold(text: str) -> str:
    """``text`` as it is compared: without case and accents, ``Łódź`` is still ``łodz``."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def words_of(email: str, first_name: str, last_name: str) -> frozenset[str]:
    """Return the words that find a person: the email, what follows its ``@``, and both names'.

    Parts of a double name count too, ``Jean-Luc`` is found as ``luc``. Words that begin another
    one are left out: what finds the longer one finds them.
    """
    return _kept([email, email.rpartition("@")[2], *_parts(last_name), *_parts(first_name)])


def words_in(*texts: str) -> frozenset[str]:
    """The words that something with these names is found by, as ``words_of`` has it of people."""
    return _kept([part for text in texts for part in _parts(text)])


def _parts(name: str) -> list[str]:
    found = []
    for word in name.split():
        found += [word, *(word[place.end() :] for place in _INSIDE.finditer(word))]
    return found


def _kept(words: list[str]) -> frozenset[str]:
    folded = list(dict.fromkeys(fold(word)[:MAX_WORD_LENGTH] for word in words))
    kept = [word for word in folded if word and not _begins_another(word, folded)]
    return frozenset(kept[:MAX_WORDS])


def read_search(text: str) -> tuple[str, ...] | None:
    """Return the beginnings of words to search for, longest first; ``None`` if none can match.

    A match has a word for each of them. No words match everyone. None is the beginning of another,
    so that no word matches two.
    """
    text = text[:_MAX_SEARCH_LENGTH]
    if not is_storable(text):
        return None
    typed = text.split(maxsplit=MAX_WORDS)[:MAX_WORDS]
    words = list({fold(_searched(word))[:MAX_WORD_LENGTH] for word in typed})
    terms = [word for word in words if word and not _begins_another(word, words)]
    return tuple(sorted(terms, key=lambda word: (-len(word), word)))


def _searched(word: str) -> str:
    """Return a word as it is stored: the Punycode of an email's domain is decoded."""
    domain = word.rpartition("@")[2]
    if "xn--" not in domain.lower():
        return word
    return normalize_email(word if "@" in word else f"@{word}").removeprefix("@")


def end_of(beginning: str) -> str:
    """Return the upper bound of words that begin with ``beginning``, by code points."""
    return beginning + _LAST


def _begins_another(word: str, words: list[str]) -> bool:
    return any(other != word and other.startswith(word) for other in words)
