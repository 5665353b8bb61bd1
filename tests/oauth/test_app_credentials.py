"""Client credentials: an app's short-lived tokens, by a secret or by a key of its own."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import jwt
import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.apps.app_changes import AppChange, activate_app, deactivate_app, update_app
from app.services.apps.app_tokens import (
    DEFAULT_TOKEN,
    TokenOptions,
    create_app_token,
    list_app_tokens,
    rotate_app_token,
)
from app.services.identity.identify import identify
from app.services.inspector.inspect import inspect_token
from app.services.oauth.client_tokens import grant_app_token
from app.services.oauth.clients import ClientChange, app_token_name, delete_client, update_client
from app.services.operations.cleanup import clean_up
from tests.builders.apps import make_app
from tests.builders.oauth import Registered, make_client
from tests.builders.people import NOBODY, visit
from tests.builders.shop import close_storefront
from tests.fakes.clock import FakeClock
from tests.oauth.pages import BASE, Provider, provider_of
from tests.servers.own_provider import ec_key, public_jwk, rsa_key

ORDERS, PRODUCTS = Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS
BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CREDENTIALS = {"grant_type": "client_credentials"}


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def site(ports: Ports) -> Iterator[Provider]:
    with provider_of(ports) as running:
        yield running


@pytest.fixture
def app_id(ports: Ports) -> int:
    return make_app(ports, "Warehouse", ORDERS, PRODUCTS)[0]


def held(ports: Ports, token: str) -> frozenset[Permission]:
    return identify(ports, visit(token)).actor.permissions


def test_app_can_allow_client_credentials_alone(ports: Ports, site: Provider, app_id: int) -> None:
    client = make_client(ports, app_id=app_id)
    _, lasting = make_app(ports, "Other", ORDERS)
    named = TokenOptions(name=app_token_name(client.client))
    kept = [create_app_token(ports, OPERATOR, app_id, one) for one in (DEFAULT_TOKEN, named)]
    short = site.token(client, CREDENTIALS).json()["access_token"]
    assert all(held(ports, token.secret) for token in kept)

    update_app(ports, OPERATOR, app_id, AppChange(client_credentials_only=True))
    assert [held(ports, token.secret) for token in kept] == [frozenset()] * 2
    assert held(ports, short) == {ORDERS, PRODUCTS}
    assert held(ports, site.token(client, CREDENTIALS).json()["access_token"])
    assert held(ports, lasting) == {ORDERS}
    with pytest.raises(Refused, match="only client credentials"):
        create_app_token(ports, OPERATOR, app_id)
    with pytest.raises(Refused, match="only client credentials"):
        rotate_app_token(ports, OPERATOR, kept[0].token.id)
    checks = inspect_token(ports, OPERATOR, kept[0].secret).checks
    assert "The app allows only client credentials." in [check.text for check in checks]
    assert inspect_token(ports, OPERATOR, short).is_valid
    with ports.database.reading() as session:
        entry = session.query(models.AuditEntry).filter_by(action="app.update").one()
    assert "client_credentials_only" in str(entry.after)
    update_app(ports, OPERATOR, app_id, AppChange(client_credentials_only=False))
    assert all(held(ports, token.secret) for token in kept)


def test_app_gets_a_token_that_ends_by_itself(
    ports: Ports, site: Provider, app_id: int, clock: FakeClock
) -> None:
    client = make_client(ports, app_id=app_id)
    # Apps aren't storefront traffic.
    close_storefront(ports)
    answer = site.token(client, CREDENTIALS)
    token = answer.json()
    assert (token["expires_in"], token.get("refresh_token")) == (600, None)
    assert held(ports, token["access_token"]) == {ORDERS, PRODUCTS}
    limited = site.token(client, {**CREDENTIALS, "scope": "latchkey:manage_orders"}).json()
    assert held(ports, limited["access_token"]) == {ORDERS}
    for scope in ("openid", "latchkey:unknown", "staff"):
        refused = site.token(client, {**CREDENTIALS, "scope": scope})
        assert refused.json()["error"] == "invalid_scope", scope
    clock.pass_(minutes=10)
    assert held(ports, token["access_token"]) == frozenset()
    site.token(client, CREDENTIALS)
    assert len(list_app_tokens(ports, OPERATOR, app_id)) == 2  # the first is that of the app
    last = site.token(client, CREDENTIALS).json()["access_token"]
    assert held(ports, last) == {ORDERS, PRODUCTS}
    update_client(ports, OPERATOR, client.id, ClientChange(is_active=False))
    assert held(ports, last) == frozenset()
    assert site.token(client, CREDENTIALS).json()["error"] == "invalid_client"
    update_client(ports, OPERATOR, client.id, ClientChange(is_active=True))
    deactivate_app(ports, OPERATOR, app_id)
    assert site.token(client, CREDENTIALS).json()["error"] == "unauthorized_client"


def test_token_by_hand_with_a_clients_name_is_no_token_of_the_client(
    ports: Ports, site: Provider, app_id: int, clock: FakeClock
) -> None:
    client = make_client(ports, app_id=app_id)
    soon = clock.now() + timedelta(minutes=1)
    named = app_token_name(client.client)
    lasting = create_app_token(ports, OPERATOR, app_id, TokenOptions(name=named))
    brief = create_app_token(ports, OPERATOR, app_id, TokenOptions(named, expires_at=soon))
    token = site.token(client, CREDENTIALS).json()["access_token"]
    (own,) = (one for one in list_app_tokens(ports, OPERATOR, app_id) if one.is_by_client)
    with pytest.raises(Refused, match="OAuth client"):
        rotate_app_token(ports, OPERATOR, own.id)
    rotated = rotate_app_token(ports, OPERATOR, lasting.token.id)
    clock.pass_(minutes=2)
    site.token(client, CREDENTIALS)
    assert brief.token.id in {one.id for one in list_app_tokens(ports, OPERATOR, app_id)}
    for end in (
        partial(update_client, ports, OPERATOR, client.id, ClientChange(is_active=False)),
        partial(delete_client, ports, OPERATOR, client.id),
    ):
        end()
        assert held(ports, token) == frozenset()
        assert held(ports, lasting.secret) == held(ports, rotated.secret) == {ORDERS, PRODUCTS}


def test_client_introspects_and_revokes_the_tokens_of_its_app(
    ports: Ports, site: Provider, app_id: int, clock: FakeClock
) -> None:
    client = make_client(ports, app_id=app_id)
    others = make_client(ports, "Same app", app_id=app_id), make_client(ports)
    scope = "latchkey:manage_orders"
    token = site.token(client, {**CREDENTIALS, "scope": scope}).json()["access_token"]
    now = int(clock.timestamp())
    told = site.introspect(client, token)
    assert (told["active"], told["scope"], told["sub"]) == (True, scope, client.id)
    assert (told["iat"], told["exp"]) == (now, now + 600)
    lasting = make_app(ports, "Other", ORDERS)[1]
    for one, text in ((others[0], token), (others[1], token), (client, lasting), (client, "x")):
        assert site.introspect(one, text) == {"active": False}
    for other in others:
        form = {"token": token}
        answer = site.post("/oauth/revoke", form, auth=(other.id, other.secret))
        assert answer.status_code == 200
    assert held(ports, token) == {ORDERS}
    deactivate_app(ports, OPERATOR, app_id)
    assert site.introspect(client, token) == {"active": False}
    activate_app(ports, OPERATOR, app_id)
    assert site.introspect(client, token)["active"] is True
    site.post("/oauth/revoke", {"token": token}, auth=(client.id, client.secret))
    assert held(ports, token) == frozenset()
    late = site.token(client, CREDENTIALS).json()["access_token"]
    clock.pass_(minutes=10)
    assert site.introspect(client, late) == {"active": False}


def test_clients_of_apps_and_of_people_do_not_mix(
    ports: Ports, site: Provider, app_id: int
) -> None:
    of_app, of_people = make_client(ports, app_id=app_id), make_client(ports)
    assert site.token(of_people, CREDENTIALS).json()["error"] == "unauthorized_client"
    assert site.authorize(of_app).status_code == 400
    code = {"grant_type": "authorization_code", "code": "x"}
    assert site.token(of_app, code).json()["error"] == "unauthorized_client"
    wrong = replace(of_app, secret="wrong")
    assert site.token(wrong, CREDENTIALS).json()["error"] == "invalid_client"


def test_key_of_the_app_stands_in_for_a_secret(
    ports: Ports, site: Provider, app_id: int, clock: FakeClock
) -> None:
    keys = json.dumps({"keys": [public_jwk(rsa_key(), kid="a"), public_jwk(ec_key(), kid="b")]})
    client = make_client(ports, app_id=app_id, key_set=keys)
    assert client.secret == ""
    now = int(clock.timestamp())
    claims = {
        "iss": client.id,
        "sub": client.id,
        "aud": BASE,
        "iat": now,
        "exp": now + 60,
        "jti": "first",
    }

    def ask(key: Any = None, algorithm: str = "RS256", kid: str = "a", **changes: Any) -> Any:
        present = {name: value for name, value in {**claims, **changes}.items() if value != ""}
        assertion = jwt.encode(present, key or rsa_key(), algorithm, headers={"kid": kid})
        proof = {"client_assertion_type": BEARER, "client_assertion": assertion}
        return site.post("/oauth/token", {**CREDENTIALS, **proof})

    assert held(ports, ask().json()["access_token"]) == {ORDERS, PRODUCTS}
    other = make_client(ports, "Other", app_id=app_id, key_set=keys)
    for name, answer in {
        "replayed": ask(),
        "another key": ask(rsa_key(1), jti="2"),
        "another client": ask(jti="3", iss=other.id),
        "another audience": ask(jti="4", aud="https://other.example"),
        "expired": ask(jti="5", exp=now - 61),
        "too long": ask(jti="6", exp=now + 3600),
        "no jti": ask(jti=""),
        "no expiry": ask(jti="7", exp=""),
        "HMAC": ask("x" * 64, "HS256", jti="8"),
        "unknown client": ask(jti="9", iss="x", sub="x"),
        "subject in no form": ask(jti="10", sub=""),
    }.items():
        assert answer.json().get("error") == "invalid_client", (name, answer.text)
    assert (
        "access_token" in ask(ec_key(), "ES256", "b", jti="11", aud=f"{BASE}/oauth/token").json()
    )
    with_secret = site.token(replace(client, secret="any"), CREDENTIALS)
    assert with_secret.json()["error"] == "invalid_client"
    assert site.token(client, CREDENTIALS).json()["error"] == "invalid_client"
    for garbage in ("x", "a.b.c", ""):
        proof = {"client_assertion_type": BEARER, "client_assertion": garbage}
        refused = site.post("/oauth/token", {**CREDENTIALS, **proof})
        assert refused.json()["error"] == "invalid_client", garbage


def test_assertion_is_remembered_as_long_as_it_is_accepted(
    ports: Ports, site: Provider, app_id: int, clock: FakeClock
) -> None:
    """Clocks may differ by a minute, so that one which has just expired still works, once."""
    keys = json.dumps({"keys": [public_jwk(rsa_key(), kid="a")]})
    client = make_client(ports, app_id=app_id, key_set=keys)
    claims = {"iss": client.id, "sub": client.id, "aud": BASE, "exp": int(clock.timestamp()) + 60}

    def ask(jti: str) -> Any:
        assertion = jwt.encode({**claims, "jti": jti}, rsa_key(), "RS256", headers={"kid": "a"})
        proof = {"client_assertion_type": BEARER, "client_assertion": assertion}
        return site.post("/oauth/token", {**CREDENTIALS, **proof}).json()

    assert "access_token" in ask("1")
    clock.pass_(seconds=90)
    clean_up(ports, WORKER)
    assert ask("1")["error"] == "invalid_client"
    assert "access_token" in ask("2")
    claims["exp"] = 1e300
    assert ask("3")["error"] == "invalid_client"


def test_client_that_is_disabled_on_the_way_gets_no_token(ports: Ports, app_id: int) -> None:
    """What was read of it before counts no more."""
    client = make_client(ports, app_id=app_id).client
    assert grant_app_token(ports, NOBODY, client) is not None
    update_client(ports, OPERATOR, client.client_id, ClientChange(is_active=False))
    assert grant_app_token(ports, NOBODY, client) is None


def test_assertion_of_a_client_that_has_a_secret_is_refused(
    ports: Ports, site: Provider, app_id: int, clock: FakeClock
) -> None:
    client: Registered = make_client(ports, app_id=app_id)
    now = int(clock.timestamp())
    claims = {"iss": client.id, "sub": client.id, "aud": BASE, "exp": now + 60, "jti": "x"}
    assertion = jwt.encode(claims, rsa_key(), "RS256")
    proof = {"client_assertion_type": BEARER, "client_assertion": assertion}
    refused = site.post("/oauth/token", {**CREDENTIALS, **proof})
    assert refused.json()["error"] == "invalid_client"
    assert "access_token" in site.token(client, CREDENTIALS).json()
