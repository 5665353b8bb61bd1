"""Addresses follow the rules of their country."""

from dataclasses import replace

import pytest

from app.domain.accounts.addresses import (
    COUNTRY_NAMES,
    NO_DETAILS,
    AddressChange,
    AddressDetails,
    checked_address,
    country_name,
    postal_lines,
)
from app.domain.values.errors import Refused
from tests.fixtures.cases import cases

POLISH = AddressDetails(
    first_name="Ann",
    street_address_1="Tęczowa 7",
    city="WROCŁAW",
    postal_code="53-601",
    country="PL",
)
AMERICAN = AddressDetails(
    street_address_1="1600 Amphitheatre Pkwy",
    city="Mountain View",
    postal_code="94043",
    country="US",
    country_area="California",
)


def problems_of(details: AddressDetails) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        checked_address(details)
    return sorted((problem.field, problem.code) for problem in refused.value.problems)


def test_country_area_is_stored_by_its_code() -> None:
    assert checked_address(AMERICAN).country_area == "CA"


def test_fields_that_a_country_does_not_use_are_kept() -> None:
    details = replace(POLISH, country_area="Dolny Śląsk", city_area="Stare Miasto")
    checked = checked_address(details)
    assert (checked.country_area, checked.city_area) == ("Dolny Śląsk", "Stare Miasto")


def test_country_decides_what_is_required() -> None:
    assert problems_of(AddressDetails(country="US")) == [
        ("city", "REQUIRED"),
        ("countryArea", "REQUIRED"),
        ("postalCode", "REQUIRED"),
        ("streetAddress1", "REQUIRED"),
    ]
    assert problems_of(NO_DETAILS) == [("country", "REQUIRED")]


@cases(
    ("details", "problem"),
    [
        (replace(POLISH, postal_code="53601"), ("postalCode", "INVALID")),
        (replace(AMERICAN, country_area="Bavaria"), ("countryArea", "INVALID")),
        (replace(AMERICAN, postal_code="10001"), ("postalCode", "INVALID")),
        (replace(POLISH, country="XX"), ("country", "INVALID")),
        (replace(POLISH, country="ZZ"), ("country", "INVALID")),
        (replace(POLISH, phone="12"), ("phone", "INVALID")),
        (replace(POLISH, phone="call me"), ("phone", "INVALID")),
        (replace(POLISH, city="a\nb"), ("city", "INVALID")),
        (replace(POLISH, postal_code="5" * 21), ("postalCode", "INVALID")),
        (replace(POLISH, company_name="x" * 257), ("companyName", "INVALID")),
        (replace(POLISH, street_address_2="\0"), ("streetAddress2", "INVALID")),
    ],
)
def test_invalid_detail_is_refused(details: AddressDetails, problem: tuple[str, str]) -> None:
    assert problems_of(details) == [problem]


@cases("typed", ["713448150", "+48 71 344 81 50", "71-344-81-50"])
def test_phone_is_stored_in_one_spelling(typed: str) -> None:
    assert checked_address(replace(POLISH, phone=typed)).phone == "+48713448150"


def test_skipping_validation_skips_only_the_countrys_rules() -> None:
    details = AddressDetails(country="US", phone="none")
    assert checked_address(details, skips_validation=True) == details
    with pytest.raises(Refused):
        checked_address(replace(details, city="a\nb"), skips_validation=True)


def test_change_keeps_what_it_leaves_out() -> None:
    change = AddressChange(city=" Łódź ", first_name="", country="PL")
    assert change.applied_to(POLISH) == replace(POLISH, city="Łódź", first_name="")


def test_every_country_has_rules() -> None:
    refused = [name for name in COUNTRY_NAMES if ("country", "INVALID") in _codes(name)]
    assert refused == []


def _codes(country: str) -> list[tuple[str | None, str]]:
    try:
        checked_address(replace(NO_DETAILS, country=country))
    except Refused as refused:
        return [(problem.field, problem.code) for problem in refused.problems]
    return []


@cases(
    ("details", "lines"),
    [
        (POLISH, ("Tęczowa 7", "53-601 WROCŁAW", "Poland")),
        (
            replace(AMERICAN, country_area="CA", street_address_2="Floor 2"),
            ("1600 Amphitheatre Pkwy", "Floor 2", "MOUNTAIN VIEW, CA 94043", "United States"),
        ),
        (replace(POLISH, country="ZZ"), ("Tęczowa 7", "53-601", "WROCŁAW", "ZZ")),
        (NO_DETAILS, ("",)),
    ],
)
def test_lines_are_in_the_order_of_the_countrys_post(
    details: AddressDetails, lines: tuple[str, ...]
) -> None:
    assert postal_lines(details) == lines


def test_countries_have_names() -> None:
    assert (country_name("PL"), country_name("BO")) == ("Poland", "Bolivia")
    assert (country_name("EU"), country_name("ZZ")) == ("European Union", "ZZ")
