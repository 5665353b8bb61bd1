"""Apps against the running server and a real worker: contract, "Apps" in both parts."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
from jwt.algorithms import RSAAlgorithm

from app.domain.shop.settings import PasswordLoginMode
from tests.servers.apps import AppServer, Handshake, app_server, ask_api, fetch_key_set, refuse
from tests.servers.forked_commands import ForkedCommand, running_command
from tests.servers.http import Reply
from tests.spec.client import Client
from tests.spec.documents import DEACTIVATE_ALL, ME_QUERY, VERIFY
from tests.spec.recorded_shop import RecordedShop
from tests.spec.server import VENDOR, Server, environment

pytestmark = pytest.mark.xdist_group("spec")

TIMEOUT_SECONDS = 300
INSTALL = """
mutation ($input: AppInstallInput!) {
  appInstall(input: $input) { appInstallation { id status } errors { field code } }
}"""
WAITING = "{ appsInstallations { id status message } }"
EXTENSIONS = "{ appExtensions(first: 5) { edges { node { accessToken app { id } } } } }"
RIGHTS = "{ me { email isStaff userPermissions { code } } }"


@pytest.fixture
def crm() -> Iterator[AppServer]:
    with app_server(VENDOR) as running:
        yield running


@pytest.fixture
def background(server: Server, shop: RecordedShop, tmp_path: Path) -> Iterator[ForkedCommand]:
    """``flask worker`` on the server's database."""
    with _worker(server, tmp_path) as process:
        yield process


@contextmanager
def _worker(server: Server, folder: Path) -> Iterator[ForkedCommand]:
    with running_command(("worker",), folder, environment(server.database_url)) as running:
        yield running.command
        running.command.send_signal(signal.SIGTERM)
        running.command.wait(TIMEOUT_SECONDS)


def install(client: Client, shop: RecordedShop, running: AppServer) -> str:
    """Ask for the app in the name of the manager; the installation's id."""
    given = {
        "appName": "My app",
        "manifestUrl": running.manifest_url,
        "permissions": ["MANAGE_PRODUCTS"],
    }
    begun = client.run(INSTALL, shop.access("manager"), input=given).data["appInstall"]
    assert begun["errors"] == []
    assert begun["appInstallation"]["status"] == "PENDING"
    key: str = begun["appInstallation"]["id"]
    return key


def wait_until_ended(client: Client, shop: RecordedShop) -> list[dict[str, Any]]:
    """The installations that are left once none is under way."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        left: list[dict[str, Any]] = client.run(WAITING, shop.access("manager")).data[
            "appsInstallations"
        ]
        if all(one["status"] != "PENDING" for one in left):
            return left
        time.sleep(0.05)
    raise TimeoutError("the installation does not end")


@pytest.mark.usefixtures("background")
def test_while_our_post_is_open_the_app_calls_back_with_its_token(
    client: Client, shop: RecordedShop, crm: AppServer
) -> None:
    seen: dict[str, Any] = {}

    def call_back(handshake: Handshake) -> Reply:
        seen["app"] = ask_api(handshake, "{ app { id name } }")
        seen["keys"] = fetch_key_set(handshake)
        return Reply(body=b'{"success": true}')

    crm.decide = call_back
    install(client, shop, crm)
    assert wait_until_ended(client, shop) == []
    [handshake] = crm.handshakes
    assert seen["app"]["data"]["app"]["name"] == "My app"
    assert {key["kid"] for key in seen["keys"]} == client.kids()
    assert handshake.api_url == shop.issuer
    assert handshake.headers["saleor-domain"] == urlsplit(shop.issuer).netloc
    assert handshake.headers["saleor-schema-version"] == "3.23"
    after = ask_api(handshake, "{ app { id isActive permissions { code } } }")["data"]["app"]
    assert after == {
        "id": seen["app"]["data"]["app"]["id"],
        "isActive": True,
        "permissions": [{"code": "MANAGE_PRODUCTS"}],
    }


@pytest.mark.usefixtures("background")
def test_handshake_that_fails_leaves_no_app_no_token_and_its_message(
    client: Client, shop: RecordedShop, crm: AppServer
) -> None:
    crm.decide = lambda _told: refuse("Allow us first.", 401)
    key = install(client, shop, crm)
    [failed] = wait_until_ended(client, shop)
    assert failed == {"id": key, "status": "FAILED", "message": "Allow us first."}
    answer = ask_api(crm.handshakes[0], "{ app { id } }")
    assert answer["data"] == {"app": None}
    assert answer["errors"][0]["extensions"]["exception"]["code"] == "InvalidTokenError"
    names = client.run("{ apps(first: 50) { edges { node { name } } } }", shop.access("staff"))
    assert "My app" not in str(names.data)


def test_worker_that_is_killed_in_the_handshake_leaves_no_app_that_is_there(
    client: Client, shop: RecordedShop, server: Server, crm: AppServer, tmp_path: Path
) -> None:
    with _worker(server, tmp_path) as process:
        crm.decide = lambda _told: _kill(process)
        install(client, shop, crm)
        assert process.wait(TIMEOUT_SECONDS) == -signal.SIGKILL
    apps = client.run("{ apps(first: 50) { edges { node { name } } } }", shop.access("staff"))
    assert "My app" not in str(apps.data)
    [waiting] = client.run(WAITING, shop.access("manager")).data["appsInstallations"]
    assert waiting["status"] == "PENDING"


def _kill(process: ForkedCommand) -> Reply:
    os.kill(process.pid, signal.SIGKILL)
    return Reply()


@pytest.fixture
def extension(client: Client, shop: RecordedShop, background: object, crm: AppServer) -> str:
    """The token that the manager's dashboard gets for the installed app."""
    install(client, shop, crm)
    assert wait_until_ended(client, shop) == []
    [edge] = client.run(EXTENSIONS, shop.access("manager")).data["appExtensions"]["edges"]
    token: str = edge["node"]["accessToken"]
    return token


def test_extension_token_is_verified_by_its_app_and_acts_with_what_both_hold(
    client: Client, shop: RecordedShop, extension: str
) -> None:
    kid = jwt.get_unverified_header(extension)["kid"]
    [entry] = [key for key in client.key_set() if key["kid"] == kid]
    key: Any = RSAAlgorithm.from_jwk(dict(entry))
    claims = jwt.decode(extension, key, ["RS256"], issuer=shop.issuer)
    assert claims["type"] == "thirdparty"
    assert claims["permissions"] == ["MANAGE_PRODUCTS"]
    assert claims["user_permissions"] == ["MANAGE_APPS", "MANAGE_PRODUCTS", "MANAGE_SETTINGS"]
    assert claims["exp"] - claims["iat"] == 300
    assert client.run(RIGHTS, extension).data["me"] == {
        "email": "manager@example.com",
        "isStaff": True,
        "userPermissions": [{"code": "MANAGE_PRODUCTS"}],
    }
    verified = client.run(VERIFY, token=extension).data["tokenVerify"]
    assert verified == {"isValid": True, "errors": []}


def test_extension_token_follows_the_switches_and_ends_with_its_session(
    client: Client, shop: RecordedShop, extension: str, crm: AppServer
) -> None:
    # A closed storefront admits apps and extensions of staff.
    shop.set_switches(allow_storefront_traffic=False)
    assert client.run(ME_QUERY, extension).data == {"me": {"email": "manager@example.com"}}
    assert ask_api(crm.handshakes[0], "{ app { name } }")["data"] == {"app": {"name": "My app"}}
    assert client.run(ME_QUERY).status == 401

    shop.set_switches(PasswordLoginMode.CUSTOMERS_ONLY)
    stripped = client.run(RIGHTS, extension).data["me"]
    assert (stripped["isStaff"], stripped["userPermissions"]) == (False, [])
    shop.set_switches(PasswordLoginMode.DISABLED)
    assert client.run(ME_QUERY, extension).code == "InvalidTokenError"

    shop.set_switches()
    assert client.run(ME_QUERY, extension).data["me"]
    client.run(DEACTIVATE_ALL, shop.access("manager"))
    assert client.run(ME_QUERY, extension).code == "InvalidTokenError"
    verified = client.run(VERIFY, token=extension).data["tokenVerify"]
    assert verified["errors"] == [{"field": "token", "code": "JWT_INVALID_TOKEN"}]
