"""What an app says of itself is read whole, and everything wrong with it is told by its field."""

from typing import Any

import pytest

from app.domain.apps.manifests import Manifest, read_manifest
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import Refused
from tests.fixtures.cases import cases

QUERY = "subscription { event { ... on StaffCreated { user { id } } } }"


def extension(**changes: object) -> dict[str, object]:
    """An entry of ``extensions`` in which all is well but for ``changes``."""
    well = {"label": "Edit", "mount": "PRODUCT_DETAILS_MORE_ACTIONS", "url": "/edit"}
    return _changed(well, changes)


def webhook(**changes: object) -> dict[str, object]:
    """An entry of ``webhooks`` in which all is well but for ``changes``."""
    well = {"name": "Staff", "targetUrl": "https://app.example/hook", "query": QUERY}
    return _changed(well, changes)


def document(**changes: object) -> dict[str, object]:
    """A manifest in which all is well but for ``changes``; ``...`` leaves a member out."""
    well: dict[str, object] = {
        "id": "example.app",
        "version": "1.0.0",
        "name": "An app",
        "permissions": ["MANAGE_PRODUCTS", "MANAGE_ORDERS"],
        "appUrl": "https://app.example/dashboard/",
        "tokenTargetUrl": "https://app.example/register",
    }
    return _changed(well, changes)


def _changed(well: dict[str, Any], changes: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in (well | changes).items() if value is not ...}


def read(changed: dict[str, object], vendor: str = "saleor") -> Manifest:
    return read_manifest(changed, vendor)


def refused(changed: dict[str, object]) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as caught:
        read(changed)
    return [(problem.field, problem.code) for problem in caught.value.problems]


def test_manifest_is_read_completely() -> None:
    manifest = read(
        document(
            about="Does\nthings.",
            author="Somebody",
            audience="app.example",
            homepageUrl="https://app.example/",
            extensions=[extension(permissions=["MANAGE_ORDERS"], options={"a": 1})],
            webhooks=[webhook(asyncEvents=["STAFF_CREATED"], isActive=False)],
            somethingElse={"is": "not looked at"},
        )
    )
    assert (manifest.identifier, manifest.name, manifest.version) == (
        "example.app",
        "An app",
        "1.0.0",
    )
    assert manifest.permissions == {Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS}
    [added] = manifest.extensions
    assert (added.mount, added.target, added.url) == (
        "PRODUCT_DETAILS_MORE_ACTIONS",
        "POPUP",
        "/edit",
    )
    assert added.permissions == {Permission.MANAGE_ORDERS}
    assert added.settings == {"a": 1}
    [hook] = manifest.webhooks
    assert (hook.name, hook.events, hook.is_active) == ("Staff", (EventType.STAFF_CREATED,), False)


def test_app_without_a_back_end_has_no_token_target_url() -> None:
    assert read(document(tokenTargetUrl=...)).token_target_url == ""


@cases("name", ["id", "name", "version"])
@cases(
    ("value", "code"),
    [(..., "REQUIRED"), (None, "REQUIRED"), ("  ", "REQUIRED"), (7, "INVALID"), ([], "INVALID")],
)
def test_required_fields_of_a_manifest_are_required(name: str, value: object, code: str) -> None:
    assert refused(document(**{name: value})) == [(name, code)]


@cases("text", ["a\nb", "x" * 257, "a\x00b", "\ud800"])
def test_name_must_be_one_storable_line(text: str) -> None:
    assert refused(document(name=text)) == [("name", "INVALID")]


BAD_ADDRESSES = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://app.example/",
    "data:text/html,x",
    "/relative",
    "relative",
    "//app.example/",
    "https://",
    "https:///path",
    "ftp://app.example/",
    "https://user:secret@app.example/",
    "https://app.example\\@elsewhere.example/",
    "https://app.example/a b",
    "https://app.example/\u202e",
    "https://app.example:http/",
    "https://app.example:99999/",
    "https://[::1/",
    "https://app.example/" + "x" * 2048,
    "vbscript:x",
    "file:///etc/passwd",
]


@cases("name", ["appUrl", "tokenTargetUrl", "homepageUrl", "supportUrl", "dataPrivacyUrl"])
@cases("address", BAD_ADDRESSES)
def test_url_must_be_absolute_http(name: str, address: str) -> None:
    assert refused(document(**{name: address})) == [(name, "INVALID_URL_FORMAT")]


@cases("address", BAD_ADDRESSES)
def test_webhook_target_url_must_be_absolute_http(address: str) -> None:
    bad = document(webhooks=[webhook(targetUrl=address)])
    assert refused(bad) == [("webhooks", "INVALID_URL_FORMAT")]


@cases("names", [["MANAGE_NOTHING"], ["manage_products"], ["MANAGE_ORDERS", ""]])
def test_permission_that_does_not_exist_is_refused(names: list[str]) -> None:
    assert refused(document(permissions=names)) == [("permissions", "INVALID_PERMISSION")]


@cases("value", ["MANAGE_ORDERS", {"code": "MANAGE_ORDERS"}, [7], 7, True])
def test_permissions_are_a_list_of_names(value: object) -> None:
    assert refused(document(permissions=value)) == [("permissions", "INVALID")]


def test_manifest_cannot_request_manage_apps() -> None:
    assert refused(document(permissions=["MANAGE_APPS"])) == [
        ("permissions", "OUT_OF_SCOPE_PERMISSION")
    ]


@cases(
    ("change", "code"),
    [
        ({"label": ...}, "REQUIRED"),
        ({"mount": ...}, "REQUIRED"),
        ({"url": ...}, "REQUIRED"),
        ({"label": "a\nb"}, "INVALID"),
        ({"mount": "NOT A PLACE"}, "INVALID"),
        ({"target": "<script>"}, "INVALID"),
        ({"url": "javascript:alert(1)"}, "INVALID_URL_FORMAT"),
        ({"url": "//elsewhere.example/"}, "INVALID_URL_FORMAT"),
        ({"url": "/\\elsewhere.example/"}, "INVALID_URL_FORMAT"),
        ({"url": "relative"}, "INVALID_URL_FORMAT"),
        ({"url": "https://app.example/edit", "target": "APP_PAGE"}, "INVALID_URL_FORMAT"),
        ({"permissions": ["MANAGE_NOTHING"]}, "INVALID_PERMISSION"),
        ({"permissions": ["MANAGE_USERS"]}, "OUT_OF_SCOPE_PERMISSION"),
        ({"options": "none"}, "INVALID"),
        ({"options": {"a": 2**70}}, "INVALID"),
        ({"options": {"a": "\ud800"}}, "INVALID"),
        ({"options": {"a": "\0"}}, "INVALID"),
    ],
)
def test_extension_problems_are_reported(change: dict[str, object], code: str) -> None:
    good, bad = extension(), extension(**change)
    with pytest.raises(Refused) as caught:
        read(document(extensions=[good, bad]))
    [problem] = caught.value.problems
    assert (problem.field, problem.code) == ("extensions", code)
    assert problem.message.startswith(f"extensions[1].{next(iter(change))}: ")


def test_options_have_limited_depth() -> None:
    deep: dict[str, object] = {}
    for _ in range(30):
        deep = {"deeper": deep}
    assert refused(document(extensions=[extension(options=deep)])) == [("extensions", "INVALID")]


@cases("target", ["POPUP", "NEW_TAB", "WIDGET", "APP_PAGE", "new_tab"])
def test_relative_path_needs_an_app_url(target: str) -> None:
    added = [extension(target=target, url="/edit?x=1")]
    assert read(document(extensions=added)).extensions[0].target == target.upper()
    assert refused(document(extensions=added, appUrl=...)) == [
        ("extensions", "INVALID_URL_FORMAT")
    ]


@cases(
    ("target", "options", "allowed"),
    [
        ("NEW_TAB", {"newTabTarget": {"method": "POST"}}, False),
        ("NEW_TAB", {"newTabTarget": {"method": "post"}}, False),
        ("WIDGET", {"widgetTarget": {"method": "POST"}}, False),
        ("WIDGET", {"homeWidgetTarget": {"method": "POST"}}, False),
        ("WIDGET", {"widgetTarget": {}, "homeWidgetTarget": {"method": "POST"}}, False),
        ("NEW_TAB", {"newTabTarget": {"method": "GET"}}, True),
        ("WIDGET", {"newTabTarget": {"method": "POST"}}, True),
        ("POPUP", {}, True),
    ],
)
@cases(
    "url",
    [
        "https://elsewhere.example/edit",
        "http://app.example/edit",
        "https://app.example:8443/edit",
        "https://app.example.elsewhere.example/edit",
    ],
)
def test_token_is_posted_to_the_apps_origin_only(
    target: str, options: dict[str, object], allowed: bool, url: str
) -> None:
    at_home = extension(target=target, options=options, url="https://APP.example:443/edit")
    assert read(document(extensions=[at_home])).extensions
    abroad = document(extensions=[extension(target=target, options=options, url=url)])
    if allowed:
        assert read(abroad).extensions[0].url == url
    else:
        assert refused(abroad) == [("extensions", "INVALID_URL_FORMAT")]


@cases(
    ("change", "code"),
    [
        ({"name": ...}, "REQUIRED"),
        ({"targetUrl": ...}, "REQUIRED"),
        ({"query": ...}, "REQUIRED"),
        ({"query": 5}, "INVALID"),
        ({"asyncEvents": ["NOT_AN_EVENT"]}, "INVALID"),
        ({"asyncEvents": "STAFF_CREATED"}, "INVALID"),
        ({"syncEvents": ["ORDER_CALCULATE_TAXES"]}, "INVALID"),
        ({"syncEvents": ["ANYTHING"]}, "INVALID"),
        ({"isActive": "yes"}, "INVALID"),
        ({"customHeaders": {"X-Bad Header": "1"}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"X-Good": "1\r\nX-Bad: 2"}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"Host": "elsewhere.example"}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"Saleor-Signature": "forged"}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"latchkey-signature": "forged"}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"X-Key": "1", "x-key": "2"}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"X-Number": 1}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {"X-Long": "x" * 1000}}, "INVALID_CUSTOM_HEADERS"),
        ({"customHeaders": {f"X-{n}": "1" for n in range(6)}}, "INVALID_CUSTOM_HEADERS"),
    ],
)
def test_webhook_problems_are_reported(change: dict[str, object], code: str) -> None:
    with pytest.raises(Refused) as caught:
        read(document(webhooks=[webhook(), webhook(**change)]))
    [problem] = caught.value.problems
    assert (problem.field, problem.code) == ("webhooks", code)
    assert problem.message.startswith(f"webhooks[1].{next(iter(change))}: ")


@cases("name", ["extensions", "webhooks"])
@cases("value", ["none", {"0": {}}, [1], [{}, None], 5])
def test_extensions_and_webhooks_are_lists_of_objects(name: str, value: object) -> None:
    assert set(refused(document(**{name: value}))) <= {(name, "INVALID"), (name, "REQUIRED")}


@cases("name", ["extensions", "webhooks"])
def test_number_of_extensions_and_webhooks_is_limited(name: str) -> None:
    assert refused(document(**{name: [{}] * 101})) == [(name, "INVALID")]


@cases(
    ("change", "message"),
    [
        ({"permissions": ["FLY"]}, "Unknown permission: FLY."),
        ({"permissions": ["FLY", "SING", "FLY"]}, "Unknown permissions: FLY, SING."),
        ({"extensions": [1]}, "extensions[0]: Must be an object."),
        ({"webhooks": [{}] * 101}, "Use at most 100 items; this has 101."),
        (
            {"webhooks": [webhook(asyncEvents=["A", "B"])]},
            "webhooks[0].asyncEvents: Unknown events: A, B.",
        ),
        (
            {"webhooks": [webhook(name="x" * 257)]},
            "webhooks[0].name: Use at most 256 characters; this has 257.",
        ),
        (
            {"extensions": [extension(permissions=["MANAGE_USERS"])]},
            "extensions[0].permissions: The app itself doesn't request MANAGE_USERS.",
        ),
    ],
)
def test_problem_says_place_and_values(change: dict[str, object], message: str) -> None:
    with pytest.raises(Refused) as caught:
        read(document(**change))
    [problem] = caught.value.problems
    assert problem.message == message
    assert not any(str(value) in problem.template for value in problem.values.values())
