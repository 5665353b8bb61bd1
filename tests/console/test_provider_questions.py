"""The questions before a provider is enabled or disabled, with none, one and many affected."""

from dataclasses import replace
from datetime import UTC, datetime

from app.console.frame.parts import Question
from app.console.security.single_sign_on import disabling, enabling, state_sentence
from app.services.shop.impact import BoundedCount
from app.services.single_sign_on.provider_coverage import ProviderCoverage, ProviderDisableImpact
from tests.console.test_providers_page import MANY, NONE, SIGN_IN, TOKENS, plugin
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOBODY = ProviderDisableImpact(BoundedCount(0), BoundedCount(0), 0, 0, ())
ONE = ProviderDisableImpact(BoundedCount(1), BoundedCount(1), 0, 0, ())


def lines(question: Question) -> list[str]:
    return [f"{one.state}: {one.sentence}" for one in question.consequences]


@cases(("active", "sentence"), [(True, "Acme is enabled."), (False, "Acme is disabled.")])
def test_state_is_a_sentence(active: bool, sentence: str) -> None:
    assert state_sentence("Acme", active=active) == sentence


def test_enabling_explains_each_setting() -> None:
    plain = enabling(plugin(SIGN_IN), NONE)
    assert (plain.title, plain.action, plain.hidden) == ("Enable Acme?", "Enable", (("to", "on"),))
    assert lines(plain) == [
        (
            "ok: The sign-in page shows <b>Continue with Acme</b>, and storefronts can use the "
            "provider for customers."
        ),
        "warn: Anyone it authenticates gets an account.",
    ]
    everything = enabling(
        plugin(
            {
                **TOKENS,
                "staff_user_domains": "acme.example",
                "trust_emails": "true",
                "use_oauth_scope_permissions": "true",
            }
        ),
        NONE,
    )
    assert lines(everything) == [
        "ok: Its access tokens are accepted as <code>Bearer</code> tokens.",
        "warn: Anyone it authenticates gets an account.",
        "warn: Verified emails at <b>acme.example</b> become staff.",
        "warn: Emails without <code>email_verified</code> count as verified.",
        "warn: The provider's permissions apply instead of those set here.",
    ]


@cases(
    ("people", "sentence"),
    [
        (BoundedCount(1), "ok: <b>1 person</b> with a linked account can sign in again."),
        (BoundedCount(2), "ok: <b>2 people</b> with a linked account can sign in again."),
        (
            MANY.people,
            "ok: <b>more than 10,000 people</b> with a linked account can sign in again.",
        ),
    ],
)
def test_enabling_counts_people(people: BoundedCount, sentence: str) -> None:
    question = enabling(plugin(TOKENS), ProviderCoverage(people, BoundedCount(0)))
    assert lines(question)[-1] == sentence


def test_disabling_an_unused_provider_counts_no_one() -> None:
    question = disabling(plugin(active=True), NOBODY, NOW)
    assert question.detail == "The change applies immediately. As of 1 Mar 2026, 12:00:00 UTC."
    assert not question.is_harmless
    assert lines(question) == [
        "warn: Its access tokens are rejected immediately.",
        (
            "ok: Its settings are kept. To enable it again, use this page or "
            "<code>flask oidc set active true --provider acme</code>."
        ),
    ]


def test_disabling_says_how_members_are_removed_where_a_claim_decides() -> None:
    table = plugin({"group_mapping": '{"ops": "Orders"}'}, active=True)
    said = (
        "warn: People stay in the groups of its table. <code>flask oidc set active false "
        "--remove-members --provider acme</code> disables it and removes them."
    )
    assert said in lines(disabling(replace(table, maps_groups=True), NOBODY, NOW))
    assert said not in lines(disabling(table, NOBODY, NOW))


def test_disabling_counts_one() -> None:
    assert lines(disabling(plugin(active=True), ONE, NOW))[1:-1] == [
        "bad: <b>1 person</b> with a linked account can't sign in with it anymore.",
        "ok: All of them have another way to sign in.",
        "ok: <b>1 active session</b> of it continues until it expires.",
    ]


def test_disabling_names_staff_without_another_way() -> None:
    impact = replace(
        ONE,
        people=BoundedCount(7),
        sessions=BoundedCount(3),
        losing_access=4,
        staff_losing_access=3,
        named=("ada@example.com", "<b>"),
    )
    assert lines(disabling(plugin(active=True), impact, NOW))[1:-1] == [
        "bad: <b>7 people</b> with a linked account can't sign in with it anymore.",
        "bad: <b>4 people</b> have no other way to sign in.",
        "bad: <b>3</b> of them are staff: ada@example.com, &lt;b&gt;, +1 more.",
        "ok: <b>3 active sessions</b> of it continue until they expire.",
    ]


@cases(
    ("losing_access", "sentence"),
    [
        (0, "ok: The first 10,000 of them have another way to sign in."),
        (1, "bad: Of the first 10,000, <b>1 person</b> has no other way to sign in."),
        (2, "bad: Of the first 10,000, <b>2 people</b> have no other way to sign in."),
    ],
)
def test_disabling_says_how_far_people_were_counted(losing_access: int, sentence: str) -> None:
    impact = replace(NOBODY, people=MANY.people, losing_access=losing_access)
    question = disabling(plugin(active=True), impact, NOW)
    assert sentence in lines(question)
    assert lines(question)[1].startswith("bad: <b>more than 10,000 people</b>")


def test_one_staff_member_is_named() -> None:
    impact = replace(ONE, losing_access=1, staff_losing_access=1, named=("ada@example.com",))
    question = disabling(plugin(active=True), impact, NOW)
    assert "bad: <b>1 person</b> has no other way to sign in." in lines(question)
    assert "bad: <b>1</b> of them is staff: ada@example.com." in lines(question)
