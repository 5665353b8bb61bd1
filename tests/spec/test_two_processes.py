"""Two server processes on one database: what is changed in one holds at once in the other."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jwt
import psycopg
import pytest
import requests
from psycopg import sql
from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import SessionOrigin
from tests.builders.apps import django_hash, import_token
from tests.builders.people import PASSWORD
from tests.servers.run import server_url
from tests.spec.client import Client, new_address
from tests.spec.documents import DEACTIVATE_ALL, LOGIN, ME_QUERY, REFRESH, UPDATE_SHOP
from tests.spec.recorded_shop import RecordedShop, make_recorded_shop
from tests.spec.replay import WRONG_PASSWORD
from tests.spec.server import run_operator, running

pytestmark = [pytest.mark.xdist_group("two processes"), pytest.mark.both_databases]

VERIFY = "mutation ($token: String!) { appTokenVerify(token: $token) { valid } }"
CUSTOMER = {"email": "customer@example.com"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A client of each process; the first and the second never talk to one another."""

    shop: RecordedShop
    first: Client
    second: Client


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A database that lives as long as the processes, on each kind in turn."""
    if request.param == "sqlite":
        migrated = request.getfixturevalue("_migrated_file")
        yield f"sqlite:///{shutil.copy(migrated, tmp_path_factory.mktemp('two'))}"
        return
    maintenance = server_url(request.getfixturevalue("run_directory"), "postgresql")
    migrated = request.getfixturevalue("_migrated_database")
    name = f"two_processes_{request.getfixturevalue('worker')}"
    with psycopg.connect(maintenance, autocommit=True) as server:
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        server.execute(copy.format(sql.Identifier(name), sql.Identifier(migrated)))
        yield maintenance.replace("/postgres?", f"/{name}?")
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def running_pair(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("servers")
    shop = make_recorded_shop(shared_url)
    with (
        running(folder, shared_url) as first,
        running(folder, shared_url) as second,
        requests.Session() as http,
    ):
        shop.issuer = first.issuer
        yield Pair(shop, Client(first, http), Client(second, http))
        assert first.new_errors() + second.new_errors() == ""
    shop.close()


@pytest.fixture
def pair(running_pair: Pair) -> Pair:
    running_pair.shop.put_back()
    for client in (running_pair.first, running_pair.second):
        client.address = new_address()
    return running_pair


def test_closed_storefront_is_closed_everywhere_at_once(pair: Pair) -> None:
    for _ in range(3):
        for allowed, status in ((False, 401), (True, 200)):
            given = {"allowStorefrontTraffic": allowed}
            pair.first.run(UPDATE_SHOP, pair.shop.access("manager"), input=given)
            assert pair.second.run("{ shop { name } }").status == status


def test_login_mode_holds_everywhere_at_once(pair: Pair) -> None:
    manager = pair.shop.access("manager")
    oidc = pair.shop.sign_in("staff", SessionOrigin.OIDC).access
    assert pair.second.run(ME_QUERY, manager).data["me"]
    pair.first.run(UPDATE_SHOP, oidc, input={"passwordLoginMode": "DISABLED"})
    assert pair.second.run(ME_QUERY, manager).code == "InvalidTokenError"
    pair.second.run(UPDATE_SHOP, oidc, input={"passwordLoginMode": "ENABLED"})
    assert pair.first.run(ME_QUERY, manager).data["me"]


def test_ended_session_has_ended_everywhere_at_once(pair: Pair) -> None:
    session = pair.shop.session("customer")
    for client in (pair.first, pair.second):
        assert client.run(ME_QUERY, session.access).data["me"] == CUSTOMER
    pair.first.run(DEACTIVATE_ALL, session.access)
    assert pair.second.run(ME_QUERY, session.access).code == "InvalidTokenError"
    refused = pair.second.run(REFRESH, token=session.refresh).data["tokenRefresh"]
    assert refused["errors"][0]["code"] == "JWT_INVALID_TOKEN"


def test_login_in_one_process_is_known_in_the_other(pair: Pair) -> None:
    payload = pair.first.run(LOGIN, **CUSTOMER, password=PASSWORD).data["tokenCreate"]
    assert pair.second.run(ME_QUERY, payload["token"]).data["me"] == CUSTOMER
    refreshed = pair.second.run(REFRESH, token=payload["refreshToken"]).data["tokenRefresh"]
    assert pair.first.run(ME_QUERY, refreshed["token"]).data["me"] == CUSTOMER


def test_user_deactivated_at_the_shell_is_out_everywhere_at_once(pair: Pair) -> None:
    session = pair.shop.session("customer")
    for client in (pair.first, pair.second):
        assert client.run(ME_QUERY, session.access).data["me"] == CUSTOMER
    _shell(pair.shop, "user", "deactivate", CUSTOMER["email"])
    for client in (pair.first, pair.second):
        assert client.run(ME_QUERY, session.access).code == "InvalidTokenError"
        refused = client.run(REFRESH, token=session.refresh).data["tokenRefresh"]
        assert refused["errors"][0]["code"] == "JWT_INVALID_TOKEN"


def test_revoked_app_token_is_rejected_by_every_process(pair: Pair) -> None:
    token = pair.shop.app_token("SETTINGS")
    asking = "{ shop { defaultMailSenderName } }"
    for client in (pair.first, pair.second):
        assert client.run(asking, token).data
    with pair.shop.ports.database.transaction() as session:
        app_id = pair.shop.apps["SETTINGS"][0]
        session.execute(delete(models.AppToken).where(models.AppToken.app_id == app_id))
    for client in (pair.first, pair.second):
        assert client.run(asking, token).code == "InvalidTokenError"


def test_imported_app_token_is_known_in_both_after_its_first_use(pair: Pair) -> None:
    app_id, token = pair.shop.apps["SETTINGS"][0], "Zx81SpectrumQl68008Commodore64"
    token_id = import_token(pair.shop.ports, app_id, token, django_hash(token, 100_000))
    for client in (pair.first, pair.second):
        wrong = f"1wrongOneWithTheSameEnding{token[-4:]}"
        assert client.run(ME_QUERY, wrong).code == "InvalidTokenError"
    assert pair.first.run(VERIFY, token=token).data["appTokenVerify"]["valid"]
    for client in (pair.first, pair.second):
        assert client.run("{ app { name } }", token).data["app"]
    with pair.shop.ports.database.transaction() as session:
        session.execute(delete(models.AppToken).where(models.AppToken.id == token_id))
    for client in (pair.first, pair.second):
        assert client.run(ME_QUERY, token).code == "InvalidTokenError"


def test_failures_at_one_process_block_the_address_at_the_other(pair: Pair) -> None:
    pair.second.address = pair.first.address
    pair.shop.count_failures(pair.first.address, 6, "customer")
    pair.shop.count_failures(pair.first.address, 1, "customer")
    for client in (pair.first, pair.second):
        payload = client.run(LOGIN, **CUSTOMER, password=WRONG_PASSWORD).data["tokenCreate"]
        assert payload["errors"][0]["code"] == "LOGIN_ATTEMPT_DELAYED"


def test_rotation_is_seen_everywhere_at_once_and_old_tokens_stay_good(pair: Pair) -> None:
    old = pair.shop.session("customer")
    assert pair.second.run(ME_QUERY, old.access).data["me"] == CUSTOMER
    published = pair.first.kids()
    assert published == pair.second.kids()
    pair.shop.age_keys()
    _shell(pair.shop, "keys", "rotate")
    after = _kid(_refreshed(pair.first, old.refresh))
    assert after == _kid(_refreshed(pair.second, old.refresh))
    assert after != _kid(old.access)
    assert after in published, "whoever remembered the key set cannot verify the new tokens"
    for client in (pair.first, pair.second):
        assert client.run(ME_QUERY, old.access).data["me"] == CUSTOMER
        assert client.run(ME_QUERY, _refreshed(client, old.refresh)).data["me"] == CUSTOMER
        assert published < client.kids()


def _refreshed(client: Client, refresh: str) -> str:
    token: str = client.run(REFRESH, token=refresh).data["tokenRefresh"]["token"]
    return token


def _kid(token: str) -> str:
    kid: str = jwt.get_unverified_header(token)["kid"]
    return kid


def test_switch_set_at_the_shell_holds_everywhere_at_once(pair: Pair) -> None:
    for client in (pair.first, pair.second):
        assert client.run("{ shop { name } }").status == 200
    _shell(pair.shop, "shop", "set", "allow-storefront-traffic", "false")
    for client in (pair.first, pair.second):
        assert client.run("{ shop { name } }").status == 401


def _shell(shop: RecordedShop, *words: str) -> None:
    """Run the operator's command in a process of its own."""
    done = run_operator(shop.database_url, *words)
    assert done.returncode == 0, done.stderr
