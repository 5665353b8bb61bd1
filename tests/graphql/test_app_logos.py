"""Logos and other words of manifests: fetched once, drawn by us and served from our media."""

import base64
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select

from app import models
from app.domain.apps.apps import read_logo_file
from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.apps.app_lists import show_app_logo
from app.services.apps.installation_worker import install_next_app
from tests.builders.images import png
from tests.builders.people import NOBODY, make_staff, sign_in
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient
from tests.servers.apps import AppServer, accept, app_server, refuse
from tests.servers.http import Reply

INSTALL = """
mutation ($input: AppInstallInput!) {
  appInstall(input: $input) {
    appInstallation { id brand { logo { default } } }
    errors { field code }
    appErrors { field }
  }
}"""
BRAND = "brand { logo { default small: default(size: 50 format: WEBP) } }"
APPS = f"{{ apps(first: 9) {{ edges {{ node {{ id {BRAND} configurationUrl dataPrivacy }} }} }} }}"
INSTALLATIONS = f"{{ appsInstallations {{ id status {BRAND} }} }}"
FETCH = """
mutation ($url: String!) {
  appFetchManifest(manifestUrl: $url) {
    errors { field code message }
    manifest {
      configurationUrl dataPrivacy requiredSaleorVersion { constraint satisfied }
      brand { logo { default large: default(size: 1000 format: WEBP) } }
    }
  }
}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    permissions = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
    return sign_in(ports, make_staff(ports, "boss@example.com", *permissions)).access


def branded(app: AppServer, body: bytes = b"", status: int = 200) -> None:
    """Serve a logo that the manifest names."""
    app.server.routes["/logo"] = lambda _received: Reply(status, body or png(600, 300))
    app.manifest["brand"] = {"logo": {"default": f"{app.server.url}/logo"}}


def install(ports: Ports, api: ApiClient, manager: str, app: AppServer) -> None:
    input_ = {"appName": "My app", "manifestUrl": app.manifest_url, "permissions": []}
    begun = api.run(INSTALL, manager, input=input_)
    assert (begun["errors"], begun["appErrors"]) == ([], [])
    assert begun["appInstallation"]["brand"] is None
    assert install_next_app(ports, WORKER) == 1


def stored_logos(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.AppLogo)) or 0


def the_app(api: ApiClient, manager: str) -> Any:
    (edge,) = api.run(APPS, manager)["edges"]
    return edge["node"]


def fetched(ports: Ports, url: str) -> tuple[str, tuple[int, int]]:
    """Return format and size of the picture at ``url``."""
    prefix = "http://localhost:8000/media/apps/"
    assert url.startswith(prefix)
    name = read_logo_file(url.removeprefix(prefix))
    assert name is not None
    image = Image.open(BytesIO(show_app_logo(ports, NOBODY, *name) or b""))
    return image.format or "", image.size


def test_installed_app_shows_its_logo_from_our_media(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    with app_server(configurationUrl="https://a.example/set", dataPrivacy="None.") as app:
        branded(app)
        install(ports, api, manager, app)
    shown = the_app(api, manager)
    assert shown["configurationUrl"] == "https://a.example/set"
    assert shown["dataPrivacy"] == "None."
    logo = shown["brand"]["logo"]
    assert fetched(ports, logo["default"]) == ("PNG", (256, 128))
    assert fetched(ports, logo["small"]) == ("WEBP", (64, 32))


def test_logo_is_deleted_with_its_app(api: ApiClient, manager: str, ports: Ports) -> None:
    with app_server() as app:
        branded(app)
        install(ports, api, manager, app)
    assert stored_logos(ports) == 4
    key = the_app(api, manager)["id"]
    api.run("mutation ($id: ID!) { appDelete(id: $id) { errors { code } } }", manager, id=key)
    assert stored_logos(ports) == 0


def test_failed_installation_keeps_its_logo_until_it_is_retried_or_deleted(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    with app_server() as app:
        branded(app)
        app.decide = lambda _told: refuse("Not this shop.")
        install(ports, api, manager, app)
        (failed,) = api.run(INSTALLATIONS, manager)
        assert failed["status"] == "FAILED"
        assert fetched(ports, failed["brand"]["logo"]["small"]) == ("WEBP", (64, 32))
        retry = "mutation ($id: ID!) { appRetryInstall(id: $id) { errors { code } } }"
        api.run(retry, manager, id=failed["id"])
        assert install_next_app(ports, WORKER) == 1
        assert stored_logos(ports) == 4
        app.decide = accept
        api.run(retry, manager, id=failed["id"])
        assert install_next_app(ports, WORKER) == 1
    shown = the_app(api, manager)["brand"]["logo"]["default"]
    assert fetched(ports, shown) == ("PNG", (256, 128))
    assert stored_logos(ports) == 4


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"<svg xmlns='http://www.w3.org/2000/svg'/>", 200), (b"no image", 200), (png(), 404)],
)
def test_app_is_installed_without_a_logo_that_cannot_be_used(
    api: ApiClient, manager: str, ports: Ports, body: bytes, status: int
) -> None:
    with app_server() as app:
        branded(app, body, status)
        install(ports, api, manager, app)
    assert the_app(api, manager)["brand"] is None
    assert stored_logos(ports) == 0


def test_manifest_shows_its_logo_as_a_data_url(api: ApiClient, manager: str) -> None:
    with app_server(requiredSaleorVersion="^3.20", dataPrivacy="We keep it.") as app:
        branded(app)
        manifest = api.run(FETCH, manager, url=app.manifest_url)["manifest"]
    assert manifest["dataPrivacy"] == "We keep it."
    assert manifest["configurationUrl"] is None
    assert manifest["requiredSaleorVersion"] == {"constraint": "^3.20", "satisfied": True}
    logo = manifest["brand"]["logo"]
    for url, kind in ((logo["default"], "png"), (logo["large"], "webp")):
        prefix = f"data:image/{kind};base64,"
        assert url.startswith(prefix)
        assert Image.open(BytesIO(base64.b64decode(url.removeprefix(prefix)))).size == (256, 128)


@cases(
    "brand", ["text", {"logo": "text"}, {"logo": {"default": "javascript:alert(1)"}}, {"logo": []}]
)
def test_brand_of_another_form_is_refused(api: ApiClient, manager: str, brand: object) -> None:
    with app_server(brand=brand) as app:
        answer = api.run(FETCH, manager, url=app.manifest_url)
    assert answer["manifest"] is None
    assert {error["field"] for error in answer["errors"]} == {"brand"}


def test_manifest_without_a_brand_has_none(api: ApiClient, manager: str) -> None:
    with app_server() as app:
        manifest = api.run(FETCH, manager, url=app.manifest_url)["manifest"]
    assert (manifest["brand"], manifest["requiredSaleorVersion"]) == (None, None)


def test_logo_is_fetched_once_however_often_it_is_asked_for(api: ApiClient, manager: str) -> None:
    again = " ".join(f"b{number}: brand {{ logo {{ default }} }}" for number in range(20))
    query = f"""mutation ($url: String!) {{
      appFetchManifest(manifestUrl: $url) {{ errors {{ code }} manifest {{ {again} }} }}
    }}"""
    with app_server() as app:
        branded(app)
        manifest = api.run(query, manager, url=app.manifest_url)["manifest"]
        assert len(app.server.calls("/logo")) == 1
    assert len({brand["logo"]["default"] for brand in manifest.values()}) == 1
