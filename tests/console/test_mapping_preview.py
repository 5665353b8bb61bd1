"""The attribute mapping preview in words, made of previews without HTTP."""

from dataclasses import replace

from app.console.security.providers_page import make_preview_card
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_users import (
    ExternalPerson,
    MappedKind,
    MappedTo,
    MappingPreview,
)
from tests.fixtures.cases import cases

PERSON = ExternalPerson("subject-1", "ada@example.com", is_verified=True)
MADE = MappingPreview(
    MappedKind.ACCESS, MappedTo.MADE, person=PERSON, email="ada@example.com", name="Ada Okafor"
)


def facts(found: MappingPreview) -> dict[str, str]:
    return {fact.label: fact.value for fact in make_preview_card(found).facts}


@cases(
    ("found", "state", "title", "detail"),
    [
        (
            MappingPreview(MappedKind.ACCESS, MappedTo.NOBODY, "The token has expired."),
            "bad",
            "Sign-in would be refused.",
            "The token has expired.",
        ),
        (
            replace(MADE, outcome=MappedTo.KNOWN),
            "ok",
            "Matches ada@example.com (Ada Okafor).",
            "This account is linked.",
        ),
        (
            replace(MADE, outcome=MappedTo.LINKED, name=""),
            "warn",
            "Matches ada@example.com.",
            "The account would be linked: its email is verified on both sides.",
        ),
        (
            MADE,
            "ok",
            "Creates a new account for ada@example.com (Ada Okafor).",
            "It has no password.",
        ),
        (
            replace(MADE, person=replace(PERSON, is_verified=False), name=""),
            "ok",
            "Creates a new account for ada@example.com.",
            "It has no password. The provider hasn't verified the email.",
        ),
    ],
)
def test_result_is_a_sentence(found: MappingPreview, state: str, title: str, detail: str) -> None:
    card = make_preview_card(found)
    assert (card.state, card.title, card.detail) == (state, title, detail)


@cases("kind", MappedKind)
def test_every_kind_has_a_label(kind: MappedKind) -> None:
    assert facts(replace(MADE, kind=kind))["Token type"].endswith("token")


def test_refused_token_shows_no_account() -> None:
    refused = MappingPreview(MappedKind.ID, MappedTo.NOBODY, "Expired.", PERSON)
    assert list(facts(refused)) == ["Token type", "Subject (sub)", "Email at the provider"]
    assert list(facts(replace(refused, person=None))) == ["Token type"]


@cases(
    ("person", "email"),
    [
        (PERSON, 'ada@example.com <span class="lk-muted">verified</span>'),
        (
            replace(PERSON, email="<b>", is_verified=False),
            '&lt;b&gt; <span class="lk-muted">not verified</span>',
        ),
        (replace(PERSON, email=""), "None"),
    ],
)
def test_email_at_the_provider(person: ExternalPerson, email: str) -> None:
    assert facts(replace(MADE, person=person))["Email at the provider"] == email


def test_account_type() -> None:
    assert facts(MADE)["Account type"] == "Customer"
    assert facts(replace(MADE, is_staff=True))["Account type"] == "Staff"
    becomes = replace(MADE, is_staff=True, becomes_staff=True)
    assert facts(becomes)["Account type"].startswith('Staff <span class="lk-muted">assigned')


@cases(
    ("found", "groups"),
    [
        (MADE, "None"),
        (replace(MADE, groups=("Support", "Sales")), "Support, Sales"),
        (
            replace(MADE, groups=("Support",), joins=("Sales",)),
            'Support <span class="lk-muted">Sales would be assigned</span>',
        ),
        (replace(MADE, rights_hidden=True), "Not shown"),
    ],
)
def test_groups(found: MappingPreview, groups: str) -> None:
    assert facts(found)["Groups"] == groups


@cases(
    ("found", "permissions"),
    [
        (MADE, 'None <span class="lk-muted">set here</span>'),
        (
            replace(MADE, permissions=(Permission.MANAGE_ORDERS,), provider_rules=True),
            'Manage orders <span class="lk-muted">set at the provider</span>',
        ),
        (
            replace(MADE, permissions=None),
            "Not in this token: the provider grants permissions in access tokens.",
        ),
        (
            replace(MADE, rights_hidden=True, is_staff=True),
            "To see them, you need <b>Manage staff</b> (<code>MANAGE_STAFF</code>).",
        ),
    ],
)
def test_permissions(found: MappingPreview, permissions: str) -> None:
    assert facts(found)["Permissions"] == permissions
