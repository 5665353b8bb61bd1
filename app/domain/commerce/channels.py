"""Channels: where the shop sells, and the rules for their names, slugs and currencies."""

import re
from dataclasses import dataclass, field

import pycountry

from app.domain.accounts.addresses import COUNTRY_NAMES, EUROPEAN_UNION
from app.domain.values.errors import Problem
from app.domain.values.inputs import ABSENT, Absent, Seen
from app.domain.values.text_rules import line_problem

MAX_CHANNELS = 1000
MAX_NAME_LENGTH = 250
MAX_SLUG_LENGTH = 255

_SLUG = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel; ``currency`` is a code of ISO 4217, ``country`` one of ISO 3166-1."""

    id: int
    name: str
    slug: str
    currency: str
    country: str
    is_active: bool


@dataclass(frozen=True, slots=True)
class NewChannel:
    """A channel to be made."""

    name: str
    slug: str
    currency: str
    country: str
    is_active: bool = False


@dataclass(frozen=True, slots=True)
class ChannelChanges:
    """A change of a channel; ``ABSENT`` keeps a value. The currency never changes.

    What isn't as ``seen`` anymore makes ``Stale``.
    """

    name: str | Absent = ABSENT
    slug: str | Absent = ABSENT
    country: str | Absent = ABSENT
    is_active: bool | Absent = ABSENT
    seen: Seen = field(default_factory=dict, compare=False)


def name_problem(name: str) -> Problem | None:
    """Return why a channel can't have that name, or ``None``: REQUIRED or INVALID on ``name``."""
    if not name:
        return Problem("REQUIRED", "Give the channel a name.", "name")
    return line_problem(name, "name", max_length=MAX_NAME_LENGTH)


def slug_problem(slug: str) -> Problem | None:
    """Return why a channel can't have that slug, or ``None``: REQUIRED or INVALID on ``slug``."""
    if not slug:
        return Problem("REQUIRED", "Give the channel a slug.", "slug")
    if not _SLUG.fullmatch(slug) or len(slug) > MAX_SLUG_LENGTH:
        message = "Use letters, digits, hyphens and underscores, at most {max_length}."
        return Problem("INVALID", message, "slug", values={"max_length": MAX_SLUG_LENGTH})
    return None


def currency_problem(currency: str) -> Problem | None:
    """Return why a channel can't have that currency, or ``None``: INVALID on ``currencyCode``."""
    found = pycountry.currencies.get(alpha_3=currency)
    if found is None or found.alpha_3 != currency:
        message = "Use a currency code of ISO 4217, such as EUR."
        return Problem("INVALID", message, "currencyCode")
    return None


def country_problem(country: str) -> Problem | None:
    """Return why it can't be a channel's country, or ``None``: INVALID on ``defaultCountry``."""
    if country in COUNTRY_NAMES or country == EUROPEAN_UNION:
        return None
    message = "Use a country code of ISO 3166-1, such as PL."
    return Problem("INVALID", message, "defaultCountry")
