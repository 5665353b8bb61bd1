"""The settings of an identity provider, as clients write and read them: texts, by name."""

from dataclasses import replace
from typing import Any

from app.domain.single_sign_on.provider_settings import (
    MASK,
    SETTINGS,
    SettingType,
    activation_problems,
    read_setting,
    show_settings,
)
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem
from tests.fixtures.cases import cases

PLAIN = Provider(1, "default", "One", active=True)
URLS = [setting.name for setting in SETTINGS if setting.name.endswith("_url")]
FLAGS = [setting.name for setting in SETTINGS if setting.type is SettingType.BOOLEAN]
CHOICES = [setting.name for setting in SETTINGS if setting.choices]
TABLES = [setting.name for setting in SETTINGS if setting.type is SettingType.MULTILINE]
TEXTS = [
    setting.name for setting in SETTINGS if setting.name not in (*URLS, *FLAGS, *CHOICES, *TABLES)
]


def test_setting_names_are_stable() -> None:
    """Contract, "What existing clients hold us to"; those from ``issuer`` on are ours."""
    assert [setting.name for setting in SETTINGS] == [
        "client_id",
        "client_secret",
        "enable_refresh_token",
        "oauth_authorization_url",
        "oauth_token_url",
        "json_web_key_set_url",
        "oauth_logout_url",
        "user_info_url",
        "audience",
        "use_oauth_scope_permissions",
        "staff_user_domains",
        "default_group_name_for_new_staff_users",
        "issuer",
        "trust_emails",
        "scope_prefix",
        "second_factor_amr",
        "second_factor_acr",
        "subject_claim",
        "accepted_clients",
        "groups_claim",
        "group_mapping",
    ]


def test_every_setting_has_a_help_text() -> None:
    for setting in SETTINGS:
        assert setting.label
        assert setting.help.endswith(".")


@cases("name", TEXTS)
def test_text_setting_is_trimmed(name: str) -> None:
    value = "saleor" if name == "scope_prefix" else "a value"
    assert read_setting(name, f"  {value} ") == value


@cases(("value", "stored"), [("uid", "uid"), (" sub ", "sub"), ("", "sub"), (None, "sub")])
def test_subject_claim_is_one_that_nobody_can_edit(value: str | None, stored: str) -> None:
    assert read_setting("subject_claim", value) == stored


@cases("value", ["email", "preferred_username", "login", "UID", "sub uid"])
def test_other_subject_claims_are_refused(value: str) -> None:
    problem = read_setting("subject_claim", value)
    assert isinstance(problem, Problem)
    assert (problem.field, problem.code) == ("subject_claim", "INVALID")
    assert problem.message == "Choose one of: sub, uid."


@cases(
    "value",
    [
        "https://id.example/.well-known/openid-configuration",
        "https://id.example/.well-known/openid-configuration?p=signin",
    ],
)
def test_discovery_url_is_no_issuer(value: str) -> None:
    problem = read_setting("issuer", value)
    assert isinstance(problem, Problem)
    assert problem.message.startswith("This is the URL of the discovery document.")
    assert read_setting("issuer", "https://id.example/") == "https://id.example/"


@cases("name", TEXTS)
def test_text_setting_is_one_line_of_limited_length(name: str) -> None:
    max_length = next(setting.max_length for setting in SETTINGS if setting.name == name)
    assert read_setting(name, "x" * max_length) == "x" * max_length
    for wrong in ("x" * (max_length + 1), "a\nb", "a\0b", "\ud800"):
        problem = read_setting(name, wrong)
        assert isinstance(problem, Problem)
        assert (problem.field, problem.code) == (name, "INVALID")


@cases(
    ("prefix", "fits"),
    [
        ("saleor", True),
        ("api://shop.example/v1", True),
        ("two words", False),
        ('a"b', False),
        ("a\\b", False),
        ("größe", False),
    ],
)
def test_scope_prefix_consists_of_characters_of_scopes(prefix: str, fits: bool) -> None:
    read = read_setting("scope_prefix", prefix)
    if fits:
        assert read == prefix
    else:
        assert isinstance(read, Problem)
        assert (read.field, read.code) == ("scope_prefix", "INVALID")


@cases("name", URLS)
@cases(
    ("url", "fits"),
    [
        ("https://id.example", True),
        ("http://127.0.0.1:8080/keys?x=1", True),
        ("https://[::1]/keys", True),
        ("id.example", False),
        ("//id.example/keys", False),
        ("/keys", False),
        ("ftp://id.example/keys", False),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https:///keys", False),
        ("https://id.example:port/", False),
        ("https://id.example:99999/", False),
        ("https://[::1/keys", False),
        ("https://user:word@id.example/", False),
        ("https://id.example\\@evil.example/", False),
        ("https://id.example/a b", False),
        ("https://id.example/\u202e", False),
    ],
)
def test_url_setting_must_be_absolute(name: str, url: str, fits: bool) -> None:
    read = read_setting(name, url)
    if fits:
        assert read == url
    else:
        assert isinstance(read, Problem)
        assert (read.field, read.code) == (name, "INVALID")


@cases("name", FLAGS)
@cases(
    ("text", "flag"),
    [("true", True), ("false", False), (" True ", True), ("FALSE", False)]
    + [(text, None) for text in ("yes", "1", "0", "on", "perhaps")],
)
def test_boolean_setting_is_read_from_text(name: str, text: str, flag: bool | None) -> None:
    read = read_setting(name, text)
    if flag is None:
        assert isinstance(read, Problem)
        assert (read.field, read.code) == (name, "INVALID")
    else:
        assert read is flag


@cases("nothing", [None, "", "  "])
@cases("name", [setting.name for setting in SETTINGS])
def test_null_or_empty_clears_a_setting(name: str, nothing: str | None) -> None:
    assert read_setting(name, nothing) == getattr(PLAIN, name)


def test_masked_secret_sent_back_is_kept() -> None:
    assert read_setting("client_secret", MASK) is None
    assert read_setting("client_secret", f" {MASK} ") is None
    assert read_setting("client_id", MASK) == MASK


@cases("name", ["colour", "", "Client_Id", "active", "id"])
def test_unknown_setting_is_reported_by_name(name: str) -> None:
    problem = read_setting(name, "x")
    assert isinstance(problem, Problem)
    assert (problem.field, problem.code) == (name, "INVALID")


def test_settings_are_read_back_as_text_without_secrets() -> None:
    provider = replace(
        PLAIN, client_id="shop", client_secret="hunter2", use_oauth_scope_permissions=True
    )
    shown = {
        shown_setting.setting.name: shown_setting.value
        for shown_setting in show_settings(provider)
    }
    assert shown["client_id"] == "shop"
    assert shown["client_secret"] == MASK
    assert (shown["use_oauth_scope_permissions"], shown["enable_refresh_token"]) == (
        "true",
        "true",
    )
    assert shown["audience"] is None
    assert len(shown) == len(SETTINGS)


KEYS = {"json_web_key_set_url": "https://id.example/keys"}
LOGIN = {
    "client_id": "shop",
    "oauth_authorization_url": "https://id.example/authorize",
    "oauth_token_url": "https://id.example/token",
}
INFO = {"user_info_url": "https://id.example/userinfo"}


@cases(
    ("settings", "works"),
    [
        ({}, False),
        (KEYS, False),
        (INFO, False),
        (LOGIN, False),
        (LOGIN | INFO, False),
        (KEYS | INFO, True),
        (KEYS | LOGIN, True),
        (KEYS | LOGIN | INFO, True),
        (KEYS | {"client_id": "shop"}, False),
    ],
)
def test_provider_can_be_active_with_either_flow(settings: dict[str, Any], works: bool) -> None:
    active = replace(PLAIN, **settings)
    problems = activation_problems(active)
    assert (not problems) is works
    assert {problem.code for problem in problems} <= {"PLUGIN_MISCONFIGURED"}
    assert activation_problems(replace(active, active=False)) == ()


@cases(
    ("settings", "missing"),
    [
        ({}, ["json_web_key_set_url", "user_info_url"]),
        (INFO, ["json_web_key_set_url"]),
        (LOGIN | INFO, ["json_web_key_set_url"]),
        (KEYS, ["user_info_url"]),
        (LOGIN, ["json_web_key_set_url"]),
        (
            {"client_id": "shop"},
            ["oauth_authorization_url", "oauth_token_url", "json_web_key_set_url"],
        ),
    ],
)
def test_each_missing_setting_has_its_own_problem(
    settings: dict[str, Any], missing: list[str]
) -> None:
    problems = activation_problems(replace(PLAIN, **settings))
    assert [problem.field for problem in problems] == missing


def test_activation_problem_names_the_setting_and_the_flow() -> None:
    [problem] = activation_problems(
        replace(
            PLAIN,
            client_id="shop",
            json_web_key_set_url="https://id.example/keys",
            oauth_token_url="https://id.example/token",
        )
    )
    assert problem.message == (
        "Authorization URL is required to sign people in with this provider."
    )
