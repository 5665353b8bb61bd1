"""Dashboard extensions of the platform, as they are stored here."""

from collections.abc import Mapping

from app.domain.authorization.permissions import Permission
from app.domain.imports.apps import convert_extension
from tests.fixtures.cases import cases

APP_URL = "https://post.example.com/app"
EXTENSION: Mapping[str, object] = {
    "id": 5,
    "app_id": 7,
    "label": "Ship",
    "url": "/ship",
    "mount": "order_details_more_actions",
    "target": "popup",
    "http_target_method": None,
    "settings": {},
    "identifier": None,
}


def test_extension_is_imported_in_capitals() -> None:
    converted = convert_extension(EXTENSION, ["manage_orders"], APP_URL)
    extension = converted.value
    assert extension is not None
    assert converted.findings == ()
    assert (extension.mount, extension.target) == ("ORDER_DETAILS_MORE_ACTIONS", "POPUP")
    assert extension.permissions == {Permission.MANAGE_ORDERS}


@cases(
    ("values", "settings"),
    [
        (
            {"target": "new_tab", "http_target_method": "POST"},
            {"newTabTarget": {"method": "POST"}},
        ),
        ({"target": "widget", "http_target_method": "get"}, {"widgetTarget": {"method": "GET"}}),
        ({"target": "popup", "http_target_method": "POST"}, {}),
        (
            {"target": "new_tab", "settings": {"newTabTarget": {"method": "GET"}}},
            {"newTabTarget": {"method": "GET"}},
        ),
    ],
)
def test_method_of_older_releases_becomes_a_setting(
    values: Mapping[str, object], settings: Mapping[str, object]
) -> None:
    extension = convert_extension({**EXTENSION, **values}, [], APP_URL).value
    assert extension is not None
    assert extension.settings == settings


@cases(
    ("values", "codenames", "app_url", "code"),
    [
        ({}, ["fly"], APP_URL, "PERMISSION_UNKNOWN"),
        ({"mount": "no place!"}, [], APP_URL, "EXTENSION_PLACE_INVALID"),
        ({"mount": ""}, [], APP_URL, "EXTENSION_PLACE_INVALID"),
        ({"url": "javascript:alert(1)"}, [], APP_URL, "EXTENSION_URL_INVALID"),
        ({}, [], "", "EXTENSION_URL_INVALID"),
        (
            {
                "url": "https://other.example.com",
                "target": "new_tab",
                "http_target_method": "POST",
            },
            [],
            APP_URL,
            "EXTENSION_URL_INVALID",
        ),
    ],
)
def test_extension_that_cannot_work_is_left_out(
    values: Mapping[str, object], codenames: list[str], app_url: str, code: str
) -> None:
    converted = convert_extension({**EXTENSION, **values}, codenames, app_url)
    assert converted.value is None
    assert [each.code for each in converted.findings] == [code]


def test_second_identifier_of_an_app_is_dropped() -> None:
    row = {**EXTENSION, "identifier": "ship"}
    converted = convert_extension(row, [], APP_URL, {"ship"})
    assert converted.value is not None
    assert converted.value.identifier == ""
    assert [each.code for each in converted.findings] == ["IDENTIFIER_TAKEN"]
