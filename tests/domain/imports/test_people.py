"""People, groups and addresses of another installation, as they are to be here."""

from datetime import UTC, datetime

from app.domain.imports.people import (
    AddressLink,
    Rights,
    convert_address,
    convert_group,
    convert_person,
)
from app.domain.imports.runs import Outcome
from tests.fixtures.cases import cases

ROW = {
    "id": 7,
    "email": "Ada@Example.com",
    "first_name": "Ada",
    "is_active": True,
    "is_staff": True,
    "is_superuser": True,
    "language_code": "pt-br",
    "date_joined": datetime(2023, 4, 5, tzinfo=UTC),
}
RIGHTS = Rights(("manage_users", "manage_users"), (3, 5), ("9",))


def test_staff_keep_rights_except_those_of_restricted_groups() -> None:
    converted = convert_person(ROW, RIGHTS)
    person = converted.value
    assert person is not None
    assert (person.email, person.language_code) == ("ada@example.com", "PT_BR")
    assert (person.permissions, person.groups) == (("MANAGE_USERS",), (3, 5))
    assert person.is_superuser
    [finding] = converted.findings
    assert (finding.code, finding.outcome) == ("MEMBERSHIP_RESTRICTED", Outcome.LEFT_OUT)


def test_customer_has_no_rights() -> None:
    converted = convert_person({**ROW, "is_staff": False}, RIGHTS)
    person = converted.value
    assert person is not None
    assert (person.permissions, person.groups, person.is_superuser) == ((), (), False)
    assert [each.code for each in converted.findings] == ["CUSTOMER_WITH_PERMISSIONS"]


@cases("email", ["", "nonsense", None, "a@b@c.de", "x" * 300 + "@example.com"])
def test_person_without_a_usable_email_is_left_out(email: str | None) -> None:
    converted = convert_person({**ROW, "email": email})
    assert converted.value is None
    assert [each.code for each in converted.findings] == ["EMAIL_INVALID"]


def test_hidden_metadata_is_not_kept() -> None:
    row = {**ROW, "private_metadata": {"oidc:https://id": "sub", "note": "x"}}
    person = convert_person(row, hidden_metadata={"oidc:https://id"}).value
    assert person is not None
    assert person.private_metadata == {"note": "x"}


@cases("name", ["", "\u200b", None])
def test_group_without_a_usable_name_gets_one(name: str | None) -> None:
    group = convert_group({"id": 4, "name": name}, ()).value
    assert group is not None
    assert group.name == "Group 4"


@cases(("written", "stored"), [("pl", "PL"), ("XK", "XK"), ("", ""), ("POL", ""), (None, "")])
def test_country_is_a_code_of_two_letters_or_unknown(written: str | None, stored: str) -> None:
    address = convert_address({"id": 1, "country": written}, AddressLink(7)).value
    assert address is not None
    assert address.details["country"] == stored
