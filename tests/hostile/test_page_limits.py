"""Floods of pages and forms from one address: 429 with Retry-After, and others are served."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.sign_in.rate_limits import (
    PAGE_LIMITS,
    RATE_LIMITS,
    RateLimitPolicy,
    Rates,
    parse_rates,
)
from app.ports import Ports
from tests.builders.people import make_staff
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock

ATTACKER, VISITOR = "203.0.113.7", "198.51.100.1"
FORGOTTEN = "/console/forgotten"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: none of them counts."""
    return sqlite_url


def app_of(ports: Ports, **changed: str) -> Flask:
    """The application with some limits changed."""
    rates: Mapping[str, Rates] = {
        name.replace("__", "."): parse_rates(text) for name, text in changed.items()
    }
    configuration = replace(ports.configuration, rate_limits=RateLimitPolicy(rates))
    return create_app(replace(ports, configuration=configuration), Settings())


def client_at(app: Flask, address: str) -> FlaskClient:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    return client


def test_flood_of_reset_forms_is_refused(ports: Ports, clock: FakeClock) -> None:
    app = app_of(ports, console__passwords__forgotten="3/minute")
    attacker = ConsoleClient(client_at(app, ATTACKER), ports)
    form = {"email": "a@example.com"}
    statuses = [attacker.send(FORGOTTEN, form).status for _ in range(3)]
    assert 429 not in statuses
    refused = attacker.send(FORGOTTEN, form)
    assert refused.status == 429
    assert 55 <= int(refused.response.headers["Retry-After"]) <= 60
    assert "Too many requests. Try again in" in refused.text
    assert attacker.open(FORGOTTEN).status == 200
    visitor = ConsoleClient(client_at(app, VISITOR), ports)
    assert visitor.send(FORGOTTEN, form).status == statuses[0]
    clock.pass_(minutes=1)
    assert attacker.send(FORGOTTEN, form).status == statuses[0]


def test_flood_of_sign_ins_at_a_provider_is_refused(ports: Ports) -> None:
    app = app_of(ports, console__sign_in__begin="3/minute")
    path = "/console/sign-in/with/nowhere"
    attacker, visitor = client_at(app, ATTACKER), client_at(app, VISITOR)
    assert [attacker.get(path).status_code == 429 for _ in range(4)] == [False] * 3 + [True]
    assert visitor.get(path).status_code != 429


def test_flood_of_logout_tokens_is_refused(ports: Ports) -> None:
    app = app_of(ports, backchannel__log_out="3/minute")
    path = "/oidc/nowhere/backchannel-logout"
    attacker, visitor = client_at(app, ATTACKER), client_at(app, VISITOR)
    answers = [attacker.post(path, data={"logout_token": "x"}) for _ in range(4)]
    assert [answer.status_code == 429 for answer in answers] == [False] * 3 + [True]
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert visitor.post(path, data={"logout_token": "x"}).status_code != 429


def test_forms_without_their_own_limit_share_one(ports: Ports) -> None:
    make_staff(ports, "staff@example.com")
    app = app_of(ports, console__form="3/minute")
    console = ConsoleClient(client_at(app, VISITOR), ports)
    assert console.sign_in("staff@example.com").status == 303
    forms = ("/console/theme", "/console/account/name", "/console/theme", "/console/account/name")
    statuses = [console.send(path, seen_at="/console/account/").status for path in forms]
    assert [status == 429 for status in statuses] == [False] * 3 + [True]
    assert console.open("/console/account/").status == 200


def test_key_set_and_ordinary_pages_are_not_limited(ports: Ports) -> None:
    rates = dict.fromkeys(RATE_LIMITS, parse_rates("1/hour"))
    configuration = replace(ports.configuration, rate_limits=RateLimitPolicy(rates))
    app = create_app(replace(ports, configuration=configuration), Settings())
    for path in ("/.well-known/jwks.json", "/console/sign-in"):
        visitor = client_at(app, VISITOR)
        assert [visitor.get(path).status_code for _ in range(3)] == [200] * 3


def test_disabled_limit_refuses_no_request(ports: Ports) -> None:
    app = app_of(ports, playground="off")
    visitor = client_at(app, VISITOR)
    assert {visitor.get("/graphql/").status_code for _ in range(100)} == {200}


def test_every_page_limit_names_an_existing_page(ports: Ports) -> None:
    assert set(PAGE_LIMITS) <= {*app_of(ports).view_functions, "console.form", "hosted.form"}


def test_flood_of_static_files_is_refused(ports: Ports) -> None:
    app = app_of(ports, static="3/minute")
    file = "/static/console/theme.css"
    statuses = [client_at(app, ATTACKER).get(file, buffered=True).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    assert client_at(app, VISITOR).get(file, buffered=True).status_code == 200
