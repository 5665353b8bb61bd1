"""Apps and tokens of the platform, as they are stored here."""

from collections.abc import Mapping
from datetime import UTC, datetime

from app.domain.apps.apps import AppType
from app.domain.authorization.permissions import Permission
from app.domain.imports.apps import AppSurroundings, convert_app, convert_token
from app.domain.imports.fitting import LONG_AGO
from app.domain.imports.runs import Outcome
from tests.fixtures.cases import cases

CREATED = datetime(2021, 2, 3, tzinfo=UTC)
APP: Mapping[str, object] = {
    "id": 7,
    "name": "Parcel Post",
    "identifier": "parcel.post",
    "type": "thirdparty",
    "is_active": True,
    "is_installed": True,
    "created_at": CREATED,
    "about_app": "Ships\nparcels.",
    "author": "Post",
    "version": "1.2",
    "audience": None,
    "app_url": "https://post.example.com/app",
    "data_privacy_url": None,
    "homepage_url": "http://post.example.com",
    "manifest_url": "https://post.example.com/manifest",
    "support_url": "",
    "metadata": {"a": "b"},
    "private_metadata": {},
    "removed_at": None,
}
TOKEN: Mapping[str, object] = {
    "id": 3,
    "app_id": 7,
    "name": "Default",
    "auth_token": "pbkdf2_sha256$1$salt$hash",
    "token_last_4": "abcd",
}


def test_app_without_awkward_values_has_no_findings() -> None:
    converted = convert_app(APP, AppSurroundings(("manage_users",)))
    app = converted.value
    assert app is not None
    assert converted.findings == ()
    assert (app.id, app.name, app.type) == (7, "Parcel Post", AppType.THIRDPARTY)
    assert (app.created_at, app.about, app.audience) == (CREATED, "Ships\nparcels.", "")
    assert (app.homepage_url, app.support_url) == ("http://post.example.com", "")
    assert app.public_metadata == {"a": "b"}
    assert app.permissions == {Permission.MANAGE_USERS}


@cases(
    ("column", "value", "field", "expected", "code", "outcome"),
    [
        ("name", "x" * 300, "name", "x" * 256, "TOO_LONG", Outcome.CHANGED),
        ("name", "Par\ncel\u200b", "name", "Par cel", "CHARACTERS_NOT_ALLOWED", Outcome.CHANGED),
        ("name", " ", "name", "App 7", "NAME_EMPTY", Outcome.CHANGED),
        ("is_installed", False, "is_active", False, "APP_NOT_INSTALLED", Outcome.DISABLED),
        ("created_at", None, "created_at", LONG_AGO, "DATE_MISSING", Outcome.CHANGED),
        ("type", "other", "type", AppType.LOCAL, "APP_TYPE_UNKNOWN", Outcome.CHANGED),
        ("about_app", "x" * 20_001, "about", "x" * 20_000, "TOO_LONG", Outcome.CHANGED),
        ("about_app", "a\u202eb", "about", "ab", "CHARACTERS_NOT_ALLOWED", Outcome.CHANGED),
        ("app_url", "ftp://x.example", "app_url", "", "URL_INVALID", Outcome.LEFT_OUT),
        ("app_url", "https://u:p@x.example", "app_url", "", "URL_INVALID", Outcome.LEFT_OUT),
        (
            "support_url",
            f"https://x.example/{'x' * 2048}",
            "support_url",
            "",
            "URL_INVALID",
            Outcome.LEFT_OUT,
        ),
        (
            "metadata",
            {"a": 1, "b": "c"},
            "public_metadata",
            {"b": "c"},
            "METADATA_INVALID",
            Outcome.LEFT_OUT,
        ),
        (
            "private_metadata",
            {"a": "x" * 10_001},
            "private_metadata",
            {"a": "x" * 10_001},
            "METADATA_LARGE",
            Outcome.IMPORTED,
        ),
    ],
)
def test_value_that_does_not_fit_is_reported(
    column: str, value: object, field: str, expected: object, code: str, outcome: Outcome
) -> None:
    converted = convert_app({**APP, column: value}, AppSurroundings())
    assert getattr(converted.value, field) == expected
    assert [(each.code, each.outcome) for each in converted.findings] == [(code, outcome)]
    assert converted.findings[0].key == 7
    assert converted.findings[0].reason


def test_columns_without_a_place_are_one_finding() -> None:
    row = {**APP, "configuration_url": "https://x.example", "data_privacy": "Text"}
    (finding,) = convert_app(row, AppSurroundings()).findings
    assert finding.code == "COLUMN_NOT_SUPPORTED"
    assert finding.reason == "Apps don't have configuration_url, data_privacy here."


def test_removed_app_is_left_out_with_what_it_had() -> None:
    converted = convert_app({**APP, "removed_at": CREATED}, AppSurroundings(tokens=2, webhooks=1))
    assert converted.value is None
    (finding,) = converted.findings
    assert (finding.code, finding.outcome) == ("APP_REMOVED", Outcome.LEFT_OUT)
    assert "tokens (2) and webhooks (1)" in finding.reason


def test_unknown_permissions_and_manage_apps_are_left_out() -> None:
    around = AppSurroundings(("manage_users", "manage_apps", "fly", "add_user"))
    converted = convert_app(APP, around)
    assert converted.value is not None
    assert converted.value.permissions == {Permission.MANAGE_USERS}
    assert [(each.code, each.values) for each in converted.findings] == [
        ("PERMISSION_UNKNOWN", {"permission": "FLY"}),
        ("PERMISSION_OF_DJANGO", {"number": 1}),
        ("PERMISSION_NOT_FOR_APPS", {"permission": "MANAGE_APPS"}),
    ]


@cases(("holder", "identifier"), [(None, "parcel.post"), (7, "parcel.post"), (5, "")])
def test_identifier_of_another_app_is_dropped(holder: int | None, identifier: str) -> None:
    converted = convert_app(APP, AppSurroundings(identifier_holder=holder))
    assert converted.value is not None
    assert converted.value.identifier == identifier
    codes = [each.code for each in converted.findings]
    assert codes == ([] if identifier else ["IDENTIFIER_TAKEN"])


def test_token_keeps_its_hash() -> None:
    token = convert_token(TOKEN, lambda _hash: True).value
    assert token is not None
    assert (token.id, token.app_id, token.name, token.last_four) == (3, 7, "Default", "abcd")
    assert token.imported_hash == "pbkdf2_sha256$1$salt$hash"
    assert "salt" not in repr(token)


@cases(
    ("values", "verifiable", "code"),
    [
        ({"token_last_4": ""}, True, "TOKEN_WITHOUT_LAST_FOUR"),
        ({"token_last_4": "abc"}, True, "TOKEN_WITHOUT_LAST_FOUR"),
        ({}, False, "TOKEN_HASH_UNSUPPORTED"),
    ],
)
def test_token_that_cannot_work_is_left_out(
    values: Mapping[str, object], verifiable: bool, code: str
) -> None:
    converted = convert_token({**TOKEN, **values}, lambda _hash: verifiable)
    assert converted.value is None
    (finding,) = converted.findings
    assert (finding.code, finding.outcome) == (code, Outcome.LEFT_OUT)
    assert "The app needs a new token." in finding.reason
