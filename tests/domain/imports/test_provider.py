"""The platform's OpenID Connect plugin, as an identity provider here."""

from collections.abc import Mapping

from app.domain.imports.provider import (
    DefaultGroup,
    ImportedProvider,
    choose_plugin,
    convert_provider,
    default_group_name,
    stated_authorization_url,
)
from app.domain.imports.runs import Converted, Outcome
from tests.fixtures.cases import cases

STORED: Mapping[str, object] = {
    "client_id": "shop",
    "client_secret": "hunter2",
    "enable_refresh_token": True,
    "oauth_authorization_url": "https://id.example/authorize",
    "oauth_token_url": "https://id.example/token",
    "json_web_key_set_url": "https://id.example/keys",
    "oauth_logout_url": None,
    "audience": None,
    "use_oauth_scope_permissions": False,
    "user_info_url": "https://id.example/userinfo",
    "staff_user_domains": "northlight.example",
    "default_group_name_for_new_staff_users": "",
}
GROUP = "default_group_name_for_new_staff_users"


def plugin(**changes: object) -> dict[str, object]:
    stored = {**STORED, **changes}
    return {
        "id": 9,
        "name": "OpenID Connect",
        "active": True,
        "channel_id": None,
        "configuration": [{"name": name, "value": value} for name, value in stored.items()],
    }


def convert(
    row: Mapping[str, object], group: DefaultGroup | None = None
) -> Converted[ImportedProvider]:
    return convert_provider(row, is_chosen=True, group=group or DefaultGroup())


def test_plugin_without_awkward_values_has_no_findings() -> None:
    converted = convert(plugin())
    assert converted.findings == ()
    provider = converted.value
    assert provider is not None
    assert (provider.id, provider.name, provider.active) == (9, "OpenID Connect", True)
    assert provider.works
    expected = {name: "" if value is None else value for name, value in STORED.items()}
    assert provider.settings == {**expected, "scope_prefix": "saleor", "accepted_clients": ""}
    assert "hunter2" not in repr(provider)


def test_settings_can_be_texts_or_missing() -> None:
    row = plugin(enable_refresh_token="false", use_oauth_scope_permissions="True", audience="api")
    row["configuration"] = [
        entry
        for entry in row["configuration"]  # type: ignore[attr-defined]
        if entry["name"] != "oauth_logout_url"
    ]
    provider = convert(row).value
    assert provider is not None
    assert provider.settings["enable_refresh_token"] is False
    assert provider.settings["use_oauth_scope_permissions"] is True
    assert provider.settings["oauth_logout_url"] == ""


@cases(
    ("changes", "codes", "active"),
    [
        ({"oauth_logout_url": "javascript:alert(1)"}, ["PROVIDER_SETTING_REFUSED"], True),
        ({"client_id": "x" * 1025}, ["PROVIDER_SETTING_REFUSED"], True),
        ({"oauth_token_url": "", "user_info_url": ""}, ["PROVIDER_INCOMPLETE"], False),
        (
            {"json_web_key_set_url": "ftp://id.example/keys"},
            ["PROVIDER_SETTING_REFUSED", "PROVIDER_INCOMPLETE"],
            False,
        ),
        ({"use_oauth_scope_permissions": True}, ["PROVIDER_WITHOUT_AUDIENCE"], True),
        ({"colour": "blue"}, ["PROVIDER_SETTING_UNKNOWN"], True),
        ({"colour": ""}, [], True),
        ({"client_secret": "****"}, [], True),
    ],
)
def test_what_does_not_fit_is_reported(
    changes: dict[str, object], codes: list[str], active: bool
) -> None:
    converted = convert(plugin(**changes))
    assert [finding.code for finding in converted.findings] == codes
    assert converted.value is not None
    assert converted.value.active is active
    assert "hunter2" not in str(converted.findings)


@cases(
    ("is_restricted", "code", "outcome", "name"),
    [
        (None, "DEFAULT_GROUP_MISSING", Outcome.IMPORTED, "Staff"),
        (True, "DEFAULT_GROUP_RESTRICTED", Outcome.LEFT_OUT, ""),
    ],
)
def test_default_group_must_exist_for_all_channels(
    is_restricted: bool | None, code: str, outcome: Outcome, name: str
) -> None:
    row = plugin(**{GROUP: " Staff "})
    assert default_group_name(row) == "Staff"
    converted = convert(row, DefaultGroup(is_restricted))
    [finding] = converted.findings
    assert (finding.code, finding.outcome) == (code, outcome)
    assert converted.value is not None
    assert converted.value.settings[GROUP] == name


def test_existing_default_group_stays() -> None:
    converted = convert(plugin(**{GROUP: "Staff"}), DefaultGroup(is_restricted=False))
    assert converted.findings == ()
    assert converted.value is not None
    assert converted.value.settings[GROUP] == "Staff"


@cases(
    ("rows", "chosen"),
    [
        ([], None),
        ([(3, False, None)], 3),
        ([(3, False, None), (4, True, 1)], 4),
        ([(3, True, 1), (4, True, None)], 4),
        ([(4, True, None), (3, True, None)], 3),
    ],
)
def test_active_configuration_for_all_channels_is_chosen(
    rows: list[tuple[int, bool, int | None]], chosen: int | None
) -> None:
    found = [{"id": key, "active": active, "channel_id": at} for key, active, at in rows]
    assert choose_plugin(found) == chosen


def test_other_configurations_are_left_out() -> None:
    converted = convert_provider(plugin(), is_chosen=False, group=DefaultGroup())
    assert converted.value is None
    assert [finding.code for finding in converted.findings] == ["PROVIDER_NOT_CHOSEN"]


@cases("configuration", [None, {}, [], ["x"], [{"value": "x"}]])
def test_empty_configuration_is_an_inactive_provider(configuration: object) -> None:
    row = {**plugin(), "configuration": configuration}
    assert stated_authorization_url(row) == ""
    provider = convert(row).value
    assert provider is not None
    assert not provider.active
