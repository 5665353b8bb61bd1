"""Installing apps and what they add to the dashboard, by GraphQL."""

from collections.abc import Mapping
from typing import Any

import pytest

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.keys import KeyPair
from app.services.apps.app_changes import deactivate_app
from app.services.apps.installation_worker import install_next_app
from app.services.identity.identify import identify
from tests.builders.apps import make_app, make_extension_app
from tests.builders.people import make_staff, make_user, sign_in, visit
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient
from tests.servers.apps import accept, app_server, refuse

INSTALL = """
mutation ($input: AppInstallInput!) {
  appInstall(input: $input) {
    appInstallation { id status message appName manifestUrl createdAt updatedAt }
    errors { field code permissions }
  }
}"""
RETRY = """
mutation ($id: ID!) {
  appRetryInstall(id: $id) { appInstallation { status } errors { field code } }
}"""
FORGET = """
mutation ($id: ID!) {
  appDeleteFailedInstallation(id: $id) { appInstallation { appName } errors { field code } }
}"""
WAITING = "{ appsInstallations { id status message appName } }"
FETCH = """
mutation ($url: String!) {
  appFetchManifest(manifestUrl: $url) {
    errors { field code message }
    manifest {
      identifier version name about permissions { code } appUrl tokenTargetUrl author audience
      extensions { label url mountName targetName settings identifier permissions { code } }
      webhooks { name asyncEvents syncEvents query targetUrl }
    }
  }
}"""
EXTENSIONS = """
query ($filter: AppExtensionFilterInput) {
  appExtensions(first: 9, filter: $filter) {
    totalCount
    edges { node {
      id label url mountName targetName settings accessToken
      permissions { code } app { name accessToken }
    } }
  }
}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    permissions = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
    return sign_in(ports, make_staff(ports, "boss@example.com", *permissions)).access


def install_input(url: str, **more: object) -> dict[str, object]:
    input_ = {"appName": "My app", "manifestUrl": url, "permissions": ["MANAGE_PRODUCTS"]}
    return input_ | more


def install(ports: Ports, api: ApiClient, manager: str, **manifest: object) -> str:
    """Install an app; returns the token it was given."""
    with app_server("Latchkey", **manifest) as app:
        assert api.run(INSTALL, manager, input=install_input(app.manifest_url))["errors"] == []
        assert install_next_app(ports, WORKER) == 1
        return app.handshakes[0].token


def nodes(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [edge["node"] for edge in page["edges"]]


def test_installation_is_listed_until_it_ends(api: ApiClient, manager: str, ports: Ports) -> None:
    with app_server() as app:
        begun = api.run(INSTALL, manager, input=install_input(app.manifest_url))["appInstallation"]
        assert (begun["status"], begun["message"]) == ("PENDING", None)
        assert [installation["id"] for installation in api.run(WAITING, manager)] == [begun["id"]]
        install_next_app(ports, WORKER)
    assert api.run(WAITING, manager) == []
    found = api.run("{ apps(first: 9) { edges { node { name type isActive } } } }", manager)
    assert nodes(found) == [{"name": "My app", "type": "THIRDPARTY", "isActive": True}]


def test_failed_installation_shows_the_apps_message_and_can_be_retried(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    with app_server() as app:
        app.decide = lambda _told: refuse("Not this shop.")
        begun = api.run(INSTALL, manager, input=install_input(app.manifest_url))["appInstallation"]
        key = begun["id"]
        for query in (RETRY, FORGET):
            [problem] = api.run(query, manager, id=key)["errors"]
            assert problem == {"field": "id", "code": "INVALID_STATUS"}
        install_next_app(ports, WORKER)
        [failed] = api.run(WAITING, manager)
        assert (failed["status"], failed["message"]) == ("FAILED", "Not this shop.")
        app.decide = accept
        assert api.run(RETRY, manager, id=key)["appInstallation"] == {"status": "PENDING"}
        install_next_app(ports, WORKER)
    assert api.run(WAITING, manager) == []


def test_failed_installation_can_be_deleted(api: ApiClient, manager: str, ports: Ports) -> None:
    begun = api.run(INSTALL, manager, input=install_input("http://127.0.0.1:9/manifest"))
    install_next_app(ports, WORKER)
    deleted_object = api.run(FORGET, manager, id=begun["appInstallation"]["id"])
    assert deleted_object == {"appInstallation": {"appName": "My app"}, "errors": []}
    assert api.run(WAITING, manager) == []


@cases(
    ("changed", "expected"),
    [
        ({"appName": " "}, ("appName", "REQUIRED")),
        ({"appName": "a\nb"}, ("appName", "INVALID")),
        ({"manifestUrl": "nope"}, ("manifestUrl", "INVALID_URL_FORMAT")),
        ({"manifestUrl": "javascript:x"}, ("manifestUrl", "INVALID_URL_FORMAT")),
        ({"permissions": ["MANAGE_TAXES"]}, ("permissions", "OUT_OF_SCOPE_PERMISSION")),
        ({"permissions": ["MANAGE_APPS"]}, ("permissions", "OUT_OF_SCOPE_PERMISSION")),
    ],
)
def test_invalid_input_is_reported_at_once(
    api: ApiClient, manager: str, changed: dict[str, object], expected: tuple[str, str]
) -> None:
    input_ = install_input("https://app.example/manifest", **changed)
    response = api.run(INSTALL, manager, input=input_)
    assert response["appInstallation"] is None
    assert [(error["field"], error["code"]) for error in response["errors"]] == [expected]
    assert api.run(WAITING, manager) == []


def test_retry_needs_the_granted_permissions(api: ApiClient, manager: str, ports: Ports) -> None:
    begun = api.run(INSTALL, manager, input=install_input("http://127.0.0.1:9/manifest"))
    install_next_app(ports, WORKER)
    other = make_staff(ports, "other@example.com", Permission.MANAGE_APPS)
    retried = api.run(RETRY, sign_in(ports, other).access, id=begun["appInstallation"]["id"])
    assert retried["errors"] == [{"field": "id", "code": "OUT_OF_SCOPE_PERMISSION"}]


def test_manifest_is_shown_before_anything_is_installed(api: ApiClient, manager: str) -> None:
    with app_server(about="Does things.", author="Somebody", audience="a.b") as app:
        response = api.run(FETCH, manager, url=app.manifest_url)
    assert response["errors"] == []
    manifest = response["manifest"]
    assert (manifest["identifier"], manifest["about"]) == ("example.app", "Does things.")
    assert manifest["permissions"] == [{"code": "MANAGE_PRODUCTS"}]
    [extension] = manifest["extensions"]
    assert (extension["mountName"], extension["targetName"], extension["settings"]) == (
        "PRODUCT_DETAILS_MORE_ACTIONS",
        "POPUP",
        {},
    )
    assert extension["url"] == f"{manifest['appUrl'].rstrip('/')}/edit"
    assert extension["url"].startswith("http://")
    [webhook] = manifest["webhooks"]
    assert (webhook["asyncEvents"], webhook["syncEvents"]) == (["STAFF_CREATED"], [])


def test_manifest_error_names_its_key(api: ApiClient, manager: str) -> None:
    with app_server(appUrl="/dashboard", permissions=["MANAGE_NOTHING"]) as app:
        response = api.run(FETCH, manager, url=app.manifest_url)
    assert response["manifest"] is None
    assert {(error["field"], error["code"]) for error in response["errors"]} == {
        ("appUrl", "INVALID_URL_FORMAT"),
        ("permissions", "INVALID_PERMISSION"),
    }


def test_dashboard_lists_extensions(api: ApiClient, manager: str, ports: Ports) -> None:
    install(ports, api, manager)
    staff = sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_PRODUCTS)).access
    page = api.run(EXTENSIONS, staff)
    assert page["totalCount"] == 1
    [extension] = nodes(page)
    assert extension["url"].endswith("/dashboard/edit")
    assert extension["permissions"] == [{"code": "MANAGE_PRODUCTS"}]
    assert extension["accessToken"] == extension["app"]["accessToken"]
    actor = identify(ports, visit(extension["accessToken"])).actor
    assert actor.is_user
    assert actor.permissions == {Permission.MANAGE_PRODUCTS}
    query = "query ($id: ID!) { appExtension(id: $id) { label identifier app { name } } }"
    one = api.run(query, staff, id=extension["id"])
    assert one == {"label": "Edit", "identifier": None, "app": {"name": "My app"}}


def test_extensions_are_filtered_by_mount_and_target(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    install(ports, api, manager)
    for wanted, count in (
        ({"mountName": ["PRODUCT_DETAILS_MORE_ACTIONS", "ELSEWHERE"]}, 1),
        ({"mountName": ["product_details_more_actions"], "targetName": "popup"}, 1),
        ({"mountName": ["ELSEWHERE"]}, 0),
        ({"targetName": "APP_PAGE"}, 0),
        ({"mountName": [], "targetName": None}, 1),
        ({"mountName": ["\u0000"]}, 0),
    ):
        assert api.run(EXTENSIONS, manager, filter=wanted)["totalCount"] == count, wanted


def test_extension_has_no_token_for_staff_without_its_permissions(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    install(ports, api, manager)
    staff = sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_ORDERS)).access
    [extension] = nodes(api.run(EXTENSIONS, staff))
    assert extension["label"] == "Edit"
    assert extension["accessToken"] is None
    query = "query ($id: ID!) { appExtension(id: $id) { accessToken } }"
    assert api.run(query, staff, id=extension["id"]) == {"accessToken": None}
    assert api.run(query, manager, id=extension["id"])["accessToken"]


def test_app_sees_only_its_own_extensions(api: ApiClient, manager: str, ports: Ports) -> None:
    own = install(ports, api, manager)
    _, other = make_app(ports, "other", Permission.MANAGE_PRODUCTS)
    _, managing = make_app(ports, "managing", Permission.MANAGE_APPS)
    [extension] = nodes(api.run(EXTENSIONS, own))
    query = "query ($id: ID!) { appExtension(id: $id) { label } }"

    for credential in (own, managing):
        assert api.run(query, credential, id=extension["id"]) == {"label": "Edit"}
    assert api.run(EXTENSIONS, managing)["totalCount"] == 1
    assert api.run(EXTENSIONS, other)["totalCount"] == 0
    unknown = to_global_id("AppExtension", 4711)
    for id_ in (extension["id"], unknown, "garbage"):
        assert api.code(query, other, id=id_) == "PermissionDenied"


def test_app_sees_extensions_without_tokens(api: ApiClient, manager: str, ports: Ports) -> None:
    token = install(ports, api, manager)
    [extension] = nodes(api.run(EXTENSIONS, token))
    assert extension["accessToken"] is None


def test_tokens_are_signed_for_apps_with_an_extension_alone(
    api: ApiClient, manager: str, ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(ports, api, manager)
    for name in ("two", "three"):
        make_extension_app(ports, name, Permission.MANAGE_PRODUCTS)
    signed = []
    sign = ports.keys.sign

    def recorded(key: KeyPair, claims: Mapping[str, object]) -> str:
        signed.append(claims["app"])
        return sign(key, claims)

    monkeypatch.setattr(ports.keys, "sign", recorded)
    query = (
        "{ apps(first: 5) { edges { node { name extensions { a: accessToken accessToken } } } } }"
    )
    shown = {app["name"]: len(app["extensions"]) for app in nodes(api.run(query, manager))}
    assert shown == {"My app": 1, "two": 0, "three": 0}
    assert len(signed) == 1


def test_extensions_of_an_inactive_app_are_hidden(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    install(ports, api, manager)
    [extension] = nodes(api.run(EXTENSIONS, manager))
    app = identify(ports, visit(extension["accessToken"])).actor.app_id
    assert app is not None
    deactivate_app(ports, WORKER, app)
    assert nodes(api.run(EXTENSIONS, manager)) == []
    query = "query ($id: ID!) { appExtension(id: $id) { label } }"
    assert api.run(query, manager, id=extension["id"]) is None
    of_app = (
        f'{{ app(id: "{to_global_id("App", app)}") {{ accessToken extensions {{ label }} }} }}'
    )
    assert api.run(of_app, manager) == {"accessToken": None, "extensions": [{"label": "Edit"}]}


def test_customers_cannot_see_installations_or_extensions(api: ApiClient, ports: Ports) -> None:
    customer = sign_in(ports, make_user(ports)).access
    assert api.code(EXTENSIONS, customer) == api.code(EXTENSIONS) == "PermissionDenied"
