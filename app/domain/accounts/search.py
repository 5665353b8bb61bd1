"""Lists of people: filters, order, and search by the beginnings of words.

Words are compared without case and accents.
"""

import importlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import chain, islice, pairwise

from app.domain.accounts.emails import normalize_email
from app.domain.values.pages import Range
from app.domain.values.text_rules import is_storable

MAX_WORD_LENGTH = 254
MAX_WORDS = 16
"""Words of an email and a name that find a person; and that one search looks for."""

MAX_ADDRESS_WORDS = 500
"""Words of addresses that find one person; those of the first addresses count."""

ADDRESS_FIELDS = (
    "city",
    "last_name",
    "first_name",
    "postal_code",
    "country",
    "phone",
    "company_name",
    "street_address_1",
    "street_address_2",
    "city_area",
    "country_area",
)
"""The details of an address, in the order in which their words count."""

_MAX_WORDS_OF_ADDRESS = 40
_MAX_ADDRESS_TEXT = 8192
"""Characters of a person's different words of addresses: folding takes 20 times as many."""

_MAX_SEARCH_LENGTH = 4096
"""Characters of a search that are looked at; room for all words of the greatest length."""

_ADDRESSES = "app.domain.accounts.addresses"
_LAST = "\U0010ffff"
_INSIDE = re.compile(r"[-'\u2019.]")
_INSIDE_ADDRESS = re.compile(r"[-'\u2019.,;:/(#+]")
_AT_END = ",;"
"""What follows a word in a list or an address, and isn't searched for."""


def fold(text: str) -> str:
    """``text`` as it is compared: without case and accents, ``Łódź`` is still ``łodz``."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def words_of(
    email: str, first_name: str, last_name: str, addresses: Iterable[Mapping[str, str]] = ()
) -> frozenset[str]:
    """Return the words that find a person: the email, what follows its ``@``, and both names'.

    So do those of their ``addresses``, which have ``ADDRESS_FIELDS``, the country's code and name.
    Parts of a double name count too, ``Jean-Luc`` is found as ``luc``. Words that begin another
    one are left out: what finds the longer one finds them.
    """
    own = [email, email.rpartition("@")[2], *_parts(last_name), *_parts(first_name)]
    kept = _without_beginnings(_folded(own))[:MAX_WORDS]
    parts = chain.from_iterable(map(_address_parts, addresses))
    found = _folded(islice(_fitting_words(parts), MAX_ADDRESS_WORDS))
    return frozenset(_without_beginnings([*kept, *found]))


def words_in(*texts: str) -> frozenset[str]:
    """The words that something with these names is found by, as ``words_of`` has it of people."""
    parts = chain.from_iterable(map(_parts, texts))
    return frozenset(_without_beginnings(_folded(parts))[:MAX_WORDS])


def _parts(name: str, inside: re.Pattern[str] = _INSIDE) -> Iterator[str]:
    for word in name.split():
        yield word
        for place in inside.finditer(word):
            yield word[place.end() :]


def _address_parts(address: Mapping[str, str]) -> Iterator[str]:
    """Yield a few words of an address; a text of many commas has no more than others."""
    code = address["country"]
    texts = [_country_names().get(code, ""), *(address[name] for name in ADDRESS_FIELDS)]
    parts = chain.from_iterable(_parts(text, _INSIDE_ADDRESS) for text in texts)
    return islice((part.strip(_AT_END) for part in parts), _MAX_WORDS_OF_ADDRESS)


@cache
def _country_names() -> Mapping[str, str]:
    """Return the names by code; imported for the first address, since few commands write one."""
    names: Mapping[str, str] = importlib.import_module(_ADDRESSES).COUNTRY_NAMES
    return names


def _fitting_words(words: Iterable[str]) -> Iterator[str]:
    """Yield each of ``words`` once, while together they are no longer than addresses are."""
    seen: set[str] = set()
    left = _MAX_ADDRESS_TEXT
    for word in words:
        if word not in seen:
            seen.add(word)
            left -= len(word)
            if left < 0:
                return
            yield word


def _folded(words: Iterable[str]) -> list[str]:
    folded = dict.fromkeys(fold(word)[:MAX_WORD_LENGTH] for word in words)
    return [word for word in folded if word]


def _without_beginnings(words: list[str]) -> list[str]:
    """Return ``words``, in their order, without those that another one begins with."""
    in_order = sorted(set(words))
    # What begins with a word follows it at once.
    beginnings = {word for word, following in pairwise(in_order) if following.startswith(word)}
    return [word for word in words if word not in beginnings]


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
    terms = _without_beginnings([word for word in words if word])
    return tuple(sorted(terms, key=lambda word: (-len(word), word)))


def _searched(word: str) -> str:
    """Return a word as it is stored: without a comma at its end, a domain without Punycode."""
    word = word.rstrip(_AT_END) or word
    domain = word.rpartition("@")[2]
    if "xn--" not in domain.lower():
        return word
    return normalize_email(word if "@" in word else f"@{word}").removeprefix("@")


def end_of(beginning: str) -> str:
    """Return the upper bound of words that begin with ``beginning``, by code points."""
    return beginning + _LAST


class UserSort(StrEnum):
    """The sort orders of people; in the order they were added by default."""

    FIRST_NAME = "FIRST_NAME"
    LAST_NAME = "LAST_NAME"
    EMAIL = "EMAIL"
    ORDER_COUNT = "ORDER_COUNT"
    CREATED_AT = "CREATED_AT"
    LAST_MODIFIED_AT = "LAST_MODIFIED_AT"


class SignInMethod(StrEnum):
    """How a person can sign in, regardless of the login mode.

    ``NO_SIGN_ON`` are all without an identity at a working provider, with a password or without.
    """

    PASSWORD = "password"
    SINGLE_SIGN_ON = "sso"
    BOTH = "both"
    NEITHER = "neither"
    NO_SIGN_ON = "no-sso"

    @property
    def has_password(self) -> bool:
        return self in (SignInMethod.PASSWORD, SignInMethod.BOTH)

    @property
    def is_known_to_provider(self) -> bool:
        return self in (SignInMethod.SINGLE_SIGN_ON, SignInMethod.BOTH)


@dataclass(frozen=True, slots=True)
class UserFilter:
    """Conditions on people; ``ids`` are global ids, ``search`` matches the beginnings of words.

    ``group_id`` is the key of a group, ``signs_in_by`` a sign-in method, ``metadata`` public keys
    each with the values that match, ``None`` for any value. Emails and names match as a whole. One
    address of the person has one of ``phones`` and ``countries``, by code, and none of
    ``other_countries``. Matches of a search are sorted by the word that matched, so ``sort`` can't
    be used with it.
    """

    search: str = ""
    is_active: bool | None = None
    ids: tuple[str, ...] | None = None
    group_id: int | None = None
    signs_in_by: SignInMethod | None = None
    joined_at: Range[datetime] | None = None
    updated_at: Range[datetime] | None = None
    ordered_at: Range[datetime] | None = None
    order_count: Range[int] | None = None
    order_counts: tuple[int, ...] | None = None
    metadata: tuple[tuple[str, tuple[str, ...] | None], ...] = ()
    emails: tuple[str, ...] | None = None
    first_names: tuple[str, ...] | None = None
    last_names: tuple[str, ...] | None = None
    phones: tuple[str, ...] | None = None
    countries: tuple[str, ...] | None = None
    other_countries: tuple[str, ...] | None = None
    sort: UserSort | None = None
    descending: bool = False
