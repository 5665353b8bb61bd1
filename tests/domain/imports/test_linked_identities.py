"""Single sign-on subjects in the platform's metadata."""

from app.domain.imports.provider import convert_identity, has_subject, subject_key
from app.domain.imports.runs import Outcome
from tests.fixtures.cases import cases

KEY = subject_key("https://id.example/authorize")


def person(subject: object, **columns: object) -> dict[str, object]:
    row = {"id": 5, "is_confirmed": True, "is_staff": False, "private_metadata": {KEY: subject}}
    return {**row, **columns}


def test_key_is_the_authorization_url() -> None:
    assert KEY == "oidc:https://id.example/authorize"
    assert has_subject({KEY: "a"}, KEY)
    assert not has_subject({f"{KEY}/": "a"}, KEY)
    assert not has_subject(["a"], KEY)


@cases(
    ("is_confirmed", "is_staff", "is_verified"),
    [(True, False, True), (False, True, True), (False, False, False)],
)
def test_identity_of_a_trusted_account_is_verified(
    is_confirmed: bool, is_staff: bool, is_verified: bool
) -> None:
    row = person("auth0|1", is_confirmed=is_confirmed, is_staff=is_staff)
    converted = convert_identity(row, KEY, ())
    assert converted.findings == ()
    identity = converted.value
    assert identity is not None
    assert (identity.user_id, identity.subject) == (5, "auth0|1")
    assert identity.is_verified is is_verified


@cases("subject", ["", "x" * 256, "a\nb", 7, None, {"sub": "a"}])
def test_unusable_subject_links_no_account(subject: object) -> None:
    converted = convert_identity(person(subject), KEY, ())
    assert converted.value is None
    [finding] = converted.findings
    assert (finding.code, finding.outcome) == ("SUBJECT_INVALID", Outcome.LEFT_OUT)


def test_shared_subject_links_no_account() -> None:
    converted = convert_identity(person("auth0|1"), KEY, {"auth0|1"})
    assert converted.value is None
    [finding] = converted.findings
    assert (finding.key, finding.code, finding.outcome) == (5, "SUBJECT_SHARED", Outcome.LEFT_OUT)
