"""The token inspector's view model, made of inspections without HTTP."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.console.frame.parts import Pill
from app.console.security.inspector import Claim, TokenFact, make_inspector_page
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.inspector import (
    Bearer,
    Check,
    CheckName,
    CheckOutcome,
    Inspection,
    KeyStatus,
    LossReason,
    NamedKey,
    Right,
    TokenApp,
    TokenKind,
    TokenSession,
)
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ORDERS, USERS = Permission.MANAGE_ORDERS, Permission.MANAGE_USERS
ADA = Bearer(1, "ada@example.com", "Ada Okafor", is_staff=True, is_active=True)
SESSION = TokenSession(1, SessionOrigin.PASSWORD, NOW, NOW + HOUR)
PASSED = Check(CheckName.FORM, CheckOutcome.PASSED, "Readable.")
FOUND = Inspection(TokenKind.ACCESS, (PASSED,))


def outcomes(*found: CheckOutcome) -> tuple[Check, ...]:
    return tuple(Check(CheckName.LOGIN_MODE, outcome, "Why.") for outcome in found)


def facts(found: Inspection) -> dict[str, TokenFact]:
    return {fact.label: fact for fact in make_inspector_page(found, NOW).facts}


@cases(
    ("kind", "checks", "verdict"),
    [
        (TokenKind.ACCESS, [CheckOutcome.PASSED], Pill("ok", "Valid")),
        (TokenKind.ACCESS, [CheckOutcome.WARNING], Pill("warn", "Valid, reduced permissions")),
        (
            TokenKind.ACCESS,
            [CheckOutcome.WARNING, CheckOutcome.UNKNOWN],
            Pill("warn", "Partly verified"),
        ),
        (TokenKind.ACCESS, [CheckOutcome.UNKNOWN, CheckOutcome.FAILED], Pill("bad", "Not valid")),
        (TokenKind.FOREIGN, [CheckOutcome.FAILED], Pill("bad", "Unrecognized token")),
        (TokenKind.UNREADABLE, [CheckOutcome.FAILED], Pill("bad", "Unrecognized token")),
    ],
)
def test_verdict_sums_up_the_checks(
    kind: TokenKind, checks: Sequence[CheckOutcome], verdict: Pill
) -> None:
    page = make_inspector_page(Inspection(kind, outcomes(*checks)), NOW)
    assert page.verdict == verdict


def test_access_page_is_linked_from_a_login_mode_that_matters() -> None:
    checks = (PASSED, *outcomes(CheckOutcome.PASSED, CheckOutcome.WARNING, CheckOutcome.FAILED))
    lines = make_inspector_page(replace(FOUND, checks=checks), NOW).checks
    assert [one.shows_access for one in lines] == [False, False, True, True]
    assert [one.outcome for one in lines] == ["Passed", "Passed", "Warning", "Failed"]
    assert (lines[0].name, lines[1].name) == ("Format", "Password login")


@cases("kind", TokenKind)
def test_every_kind_has_a_label(kind: TokenKind) -> None:
    first = make_inspector_page(replace(FOUND, kind=kind), NOW).facts[0]
    assert first.value[0].isupper()


@cases("name", CheckName)
@cases("outcome", CheckOutcome)
def test_every_check_has_a_label(name: CheckName, outcome: CheckOutcome) -> None:
    (line,) = make_inspector_page(replace(FOUND, checks=(Check(name, outcome, ""),)), NOW).checks
    assert line.name[0].isupper()
    assert line.state in {"ok", "warn", "bad"}


def test_only_known_facts_are_listed() -> None:
    assert list(facts(FOUND)) == ["Kind", "Inspected"]
    everything = replace(
        FOUND,
        bearer=ADA,
        app=TokenApp(3, "Labels", is_active=True),
        session=SESSION,
        key=NamedKey("kid", KeyStatus.ACTIVE),
        provider="Northlight ID",
    )
    labels = ["Kind", "Identity provider", "Person", "App", "Session", "Key", "Inspected"]
    assert list(facts(everything)) == labels


@cases(
    ("bearer", "value", "note", "pills"),
    [
        (ADA, "Ada Okafor", "ada@example.com", ["Staff"]),
        (replace(ADA, name=""), "ada@example.com", "", ["Staff"]),
        (
            replace(ADA, is_staff=False, is_active=False),
            "Ada Okafor",
            "ada@example.com",
            ["Customer", "Deactivated"],
        ),
    ],
)
def test_person_is_named(bearer: Bearer, value: str, note: str, pills: list[str]) -> None:
    fact = facts(replace(FOUND, bearer=bearer))["Person"]
    assert (fact.value, fact.note, [one.words for one in fact.pills]) == (value, note, pills)


def test_token_of_an_app_is_named_by_its_last_characters() -> None:
    app = TokenApp(3, "Labels", is_active=True)
    assert facts(replace(FOUND, app=app))["App"].note == ""
    own = replace(app, last_four="5tXq", token_name="Label station")
    fact = facts(replace(FOUND, app=own))["App"]
    assert (fact.note, fact.arguments) == ("token Label station (…5tXq)", {"key": 3})


@cases(
    ("origin", "started"),
    [
        (SessionOrigin.OIDC, "Started with SSO <time"),
        (SessionOrigin.PASSWORD, "Started with a password <time"),
    ],
)
def test_session_says_how_it_started(origin: SessionOrigin, started: str) -> None:
    fact = facts(replace(FOUND, session=replace(SESSION, origin=origin)))["Session"]
    assert fact.value.startswith(started)
    assert fact.note == "expires 1 Mar 2026, 13:00:00 UTC"


@cases(
    ("key", "note", "is_ours"),
    [
        (NamedKey("a", KeyStatus.ACTIVE), "active", True),
        (
            NamedKey("a", KeyStatus.RETIRED, NOW),
            "retired, valid until 1 Mar 2026, 12:00:00 UTC",
            True,
        ),
        (NamedKey("a", KeyStatus.PROVIDER), "of the identity provider", False),
        (NamedKey("a", KeyStatus.UNKNOWN), "unknown", False),
    ],
)
def test_key_says_what_it_is_good_for(key: NamedKey, note: str, is_ours: bool) -> None:
    fact = facts(replace(FOUND, key=key))["Key"]
    assert (fact.note, bool(fact.endpoint)) == (note, is_ours)


def test_permissions_have_a_column_for_each_party() -> None:
    rights = (
        Right(ORDERS, by_person=True, by_app=True),
        Right(USERS, by_person=True, by_app=False, lost_by=LossReason.APP),
    )
    permissions = make_inspector_page(replace(FOUND, rights=rights), NOW).permissions
    assert permissions is not None
    assert permissions.columns == ("Person", "App")
    orders, users = permissions.rows
    assert orders.held == (("Person", "Yes"), ("App", "Yes"))
    assert orders.effective == Pill("ok", "Yes")
    assert users.held == (("Person", "Yes"), ("App", "No"))
    assert users.effective == Pill("off", "No: the app doesn't have it")
    assert permissions.with_sso == ""


@cases("reason", LossReason)
def test_every_loss_has_a_reason(reason: LossReason) -> None:
    rights = (Right(ORDERS, by_person=True, lost_by=reason),)
    permissions = make_inspector_page(replace(FOUND, rights=rights), NOW).permissions
    assert permissions is not None
    assert permissions.rows[0].effective.words.startswith("No: ")


def test_permissions_of_an_invalid_token_are_not_effective() -> None:
    found = replace(FOUND, checks=outcomes(CheckOutcome.FAILED), rights=(Right(ORDERS),))
    permissions = make_inspector_page(found, NOW).permissions
    assert permissions is not None
    assert permissions.rows[0].effective == Pill("off", "No: the token isn't valid")


@cases(
    ("found", "note"),
    [
        (replace(FOUND, rights=()), "This token has no permissions."),
        (
            replace(FOUND, rights_hidden=True, bearer=ADA),
            "you need <b>Manage staff</b> (<code>MANAGE_STAFF</code>).",
        ),
        (
            replace(FOUND, rights_hidden=True),
            "you need <b>Manage users</b> (<code>MANAGE_USERS</code>).",
        ),
    ],
)
def test_missing_permissions_are_explained(found: Inspection, note: str) -> None:
    permissions = make_inspector_page(found, NOW).permissions
    assert permissions is not None
    assert permissions.rows == ()
    assert permissions.note.endswith(note)


def test_unknown_permissions_are_left_out() -> None:
    assert make_inspector_page(FOUND, NOW).permissions is None


@cases(
    ("by_sign_on", "words"),
    [
        ((), "No permissions if this person signs in with SSO."),
        ((ORDERS,), "If this person signs in with SSO: <b>Manage orders</b>."),
        ((ORDERS, USERS), "If this person signs in with SSO: <b>Manage orders, Manage users"),
    ],
)
def test_login_mode_shows_what_sso_would_give(
    by_sign_on: tuple[Permission, ...], words: str
) -> None:
    rights = (Right(ORDERS, by_person=True, lost_by=LossReason.LOGIN_MODE),)
    found = replace(FOUND, rights=rights, by_sign_on=by_sign_on)
    permissions = make_inspector_page(found, NOW).permissions
    assert permissions is not None
    assert permissions.with_sso.startswith(words)


def test_claims_are_explained() -> None:
    claims = {"type": "access", "user_id": "VXNlcjox", "token": "abc", "exp": 1772366400, "x": [1]}
    found = replace(FOUND, claims=claims, bearer=ADA, session=SESSION)
    (group,) = make_inspector_page(found, NOW).claims
    assert group.claims == (
        Claim("type", "access", "access token"),
        Claim("user_id", "VXNlcjox", "Ada Okafor"),
        Claim("token", "abc", "active session, started with a password"),
        Claim("exp", "1772366400", "1 Mar 2026, 12:00:00 UTC, now"),
        Claim("x", "[1]"),
    )


@cases("value", [None, True, "soon", -1, 10**30])
def test_invalid_time_has_no_explanation(value: object) -> None:
    (group,) = make_inspector_page(replace(FOUND, header={"exp": value}), NOW).claims
    assert group.title == "Header"
    assert group.claims[0].note == ""
