"""What a provider tells about a person, read carefully."""

from dataclasses import replace

import pytest

from app.domain.single_sign_on.provider_tokens import ProviderTokenRejected
from app.domain.single_sign_on.provider_users import ExternalPerson, read_person
from app.domain.single_sign_on.providers import Provider
from tests.fixtures.cases import cases

PROVIDER = Provider(1, "default", "One", active=True)
TRUSTED = replace(PROVIDER, trust_emails=True)
TOLD = {
    "sub": "alice",
    "email": "Alice@SSO.example",
    "email_verified": True,
    "given_name": " Alice ",
    "family_name": "Sso",
}


def read(**changes: object) -> ExternalPerson:
    """The person in the usual claims, some of them otherwise; ``...`` leaves one out."""
    present = {name: value for name, value in (TOLD | changes).items() if value is not ...}
    return read_person(present, PROVIDER)


def test_person_is_read_from_the_providers_claims() -> None:
    assert read() == ExternalPerson(
        "alice", "alice@sso.example", is_verified=True, first_name="Alice", last_name="Sso"
    )


@cases(
    ("claim", "is_verified"),
    [
        (True, True),
        (False, False),
        ("true", True),
        ("True", True),
        ("false", False),
        ("yes", False),
        ("", False),
        (1, False),
        ([True], False),
        (None, False),
        (..., False),
    ],
)
def test_email_is_verified_by_a_boolean_or_its_text(claim: object, is_verified: bool) -> None:
    assert read(email_verified=claim).is_verified is is_verified


@cases(
    ("claim", "is_verified"),
    [
        (True, True),
        (..., True),
        (None, True),
        (False, False),
        ("true", True),
        ("false", False),
        (0, False),
    ],
)
def test_trusted_emails_are_verified_unless_the_provider_says_otherwise(
    claim: object, is_verified: bool
) -> None:
    claims = {name: value for name, value in TOLD.items() if name != "email_verified"}
    if claim is not ...:
        claims["email_verified"] = claim
    assert read_person(claims, TRUSTED).is_verified is is_verified


@cases(
    "email",
    [
        ...,
        None,
        "",
        " ",
        "alice",
        "@sso.example",
        "a@b@c.example",
        "a@sso.example,b@sso.example",
        "a@sso.example\nBcc: x",
        "a\0@sso.example",
        f"{'x' * 250}@sso.example",
        ["alice@sso.example"],
        {"value": "alice@sso.example"},
        5,
        True,
    ],
)
def test_invalid_provider_email_is_empty_and_unverified(email: object) -> None:
    person = read(email=email)
    assert (person.email, person.is_verified) == ("", False)
    assert (person.subject, person.first_name) == ("alice", "Alice")


@cases("name", [..., None, 5, ["Alice"], "", "   ", "a\nb", "a\0b", "\ud800"])
def test_unstorable_name_does_not_prevent_sign_in(name: object) -> None:
    person = read(given_name=name, family_name=name)
    assert (person.subject, person.first_name, person.last_name) == ("alice", "", "")


def test_long_name_is_cut() -> None:
    assert read(given_name="x" * 5000).first_name == "x" * 256


@cases("subject", [..., None, "", 5, ["alice"], "x" * 256, "a\nb", "a\0"])
def test_claims_without_subject_are_refused(subject: object) -> None:
    with pytest.raises(ProviderTokenRejected):
        read(sub=subject)


@cases("subject", ["bob", "Alice", "alice ", ""])
def test_claims_of_another_subject_are_refused(subject: str) -> None:
    assert read_person(TOLD, PROVIDER, "alice").subject == "alice"
    with pytest.raises(ProviderTokenRejected) as rejected:
        read_person(TOLD, PROVIDER, subject)
    assert rejected.value.reason == "The provider's response is about another person."
