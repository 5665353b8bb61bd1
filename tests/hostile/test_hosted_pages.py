"""Attacks on the hosted pages: cookies, fixation, CSRF, floods, open redirects, closed shops."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import models
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.rate_limits import HOSTED_FORM, RateLimitPolicy, parse_rates
from app.domain.values.errors import TooManyRequests
from app.ports import Ports
from app.web.hosted_pages import own_target
from tests.builders.people import PASSWORD, make_user
from tests.builders.shop import close_storefront, set_mode
from tests.console.staff_client import Page
from tests.fakes.passwords import InterruptedHasher
from tests.fixtures.kept_application import AppOn
from tests.hosted.conftest import app, shop
from tests.hosted.customer_browser import ANN, Browser, browser

__all__ = ["app", "shop"]

STAFF = "sam@example.com"
FOREIGN = (
    "https://evil.example/",
    "//evil.example/account/",
    "/\\evil.example",
    "/account/../\\evil.example",
    "/account/..//evil.example",
    "/account/%2e%2e/%2e%2e//evil.example",
    "javascript:alert(1)",
    "/console/",
    "/graphql/",
    "/account/sign-out",
    "/account/../console/",
    "/oauth/authorizex?a=1",
    "/oauth/authorize@evil.example",
    "/account/\r\nLocation: https://evil.example",
    "",
)
OWN = ("/account/name", "/oauth/authorize?client_id=a&redirect_uri=https%3A%2F%2Fshop.example%2F")


def forms_and_pages_of(app: Flask) -> list[tuple[str, str]]:
    """Return the method and path of every hosted page and form."""
    values: dict[str, Any] = {"plugin_id": "x.authentication.openidconnect", "key": 1}
    values |= {"address": "nowhere", "client_id": "x"}
    adapter = app.url_map.bind("localhost")
    return sorted(
        (method, adapter.build(rule.endpoint, {name: values[name] for name in rule.arguments}))
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("hosted.")
        for method in sorted({"GET", "POST"}.intersection(rule.methods or ()))
    )


def post(here: Browser, path: str, **fields: str) -> Page:
    """Send a form without its CSRF token."""
    return Page(here.client.post(path, data=fields))


def test_target_is_own_or_the_account() -> None:
    assert [own_target(path) for path in FOREIGN] == ["/account/"] * len(FOREIGN)
    assert [own_target(path) for path in OWN] == list(OWN)


def test_sign_in_leads_to_own_pages_alone(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    for target in ("https://evil.example/", "//evil.example"):
        assert browser(app).sign_in(target=target).leads_to == "/account/"
    assert browser(app).sign_in(target="/account/name").leads_to == "/account/name"


def test_form_without_its_token_signs_no_one_in_or_out(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    here = browser(app)
    here.open("/account/sign-in")
    for path in ("/account/sign-in", "/account/sign-in/password", "/account/register"):
        assert post(here, path, email=ANN, password=PASSWORD).status == 400
    assert not here.is_signed_in()
    assert here.sign_in().leads_to == "/account/"
    assert post(here, "/account/sign-out").status == 400
    assert here.is_signed_in()
    # The attacker's own token doesn't fit into the victim's cookie: no login CSRF.
    attacker, victim = browser(app), browser(app)
    shown = attacker.open("/account/sign-in").html
    token = shown.split('name="csrf_token" value="')[1].split('"')[0]
    victim.open("/account/sign-in")
    sent = post(victim, "/account/sign-in", csrf_token=token, email=ANN, method="password")
    assert sent.status == 400


def kept_answers(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.FormAnswer)) or 0


def test_form_that_is_refused_by_its_rate_limit_stores_nothing(shop: Ports) -> None:
    make_user(shop, ANN)
    limited = ("hosted.sign_in.index", "oauth.device", "oauth.consent", HOSTED_FORM)
    policy = RateLimitPolicy({name: parse_rates("3/minute") for name in limited})
    configuration = replace(shop.configuration, rate_limits=policy)
    here = browser(create_app(replace(shop, configuration=configuration), Settings()))
    here.sign_in()
    for path, answered in (
        ("/account/sign-in?again=1", 2),  # the third was the sign-in
        ("/oauth/device", 3),
        ("/oauth/consent", 3),
        ("/oauth/logout/confirm?post_logout_redirect_uri=https://evil.example/", 3),
        ("/account/name", 0),  # the limit of the form before
    ):
        before = kept_answers(shop)
        refused = [here.send(path, "/account/").status == 429 for _ in range(5)]
        assert refused == [False] * answered + [True] * (5 - answered), path
        # The control: answers to forms within the limit are kept.
        assert kept_answers(shop) - before == answered, path


def test_form_that_found_the_shop_busy_can_be_sent_again(shop: Ports, app_on: AppOn) -> None:
    make_user(shop, ANN)

    def refuse() -> None:
        raise TooManyRequests(1)

    path, busy = "/account/sign-in/password", InterruptedHasher(shop.database, refuse)
    here = browser(create_app(replace(shop, passwords=busy), Settings()))
    here.send("/account/sign-in", email=ANN, method="password")
    before, filled = kept_answers(shop), here.fill(path, password=PASSWORD)
    assert post(here, path, **filled).status == 429
    assert kept_answers(shop) == before
    calm = browser(app_on(shop))
    for name, value in here.cookies().items():
        calm.client.set_cookie(name, value)
    assert post(calm, path, **filled).leads_to == "/account/"
    assert kept_answers(shop) == before + 1


def test_cookie_of_before_is_worthless_after_signing_in(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    here, fixed = browser(app), browser(app)
    here.open("/account/sign-in")
    [(name, planted)] = here.cookies().items()
    here.sign_in()
    fixed.client.set_cookie(name, planted)
    assert here.is_signed_in()
    assert not fixed.is_signed_in()
    old = here.cookies()[name]
    here.sign_in(target="/account/name")
    here.send("/account/sign-out", shown_at="/account/")
    fixed.client.set_cookie(name, old)
    assert not fixed.is_signed_in()


def test_cookie_opens_hosted_pages_alone(app: Flask, shop: Ports) -> None:
    make_user(shop, STAFF, is_superuser=True)
    here = browser(app)
    here.sign_in(STAFF)
    [(name, value)] = here.cookies().items()
    assert name == "latchkey-account"
    asked = {"query": "{ me { email } }"}
    answer = here.client.post("/graphql/", json=asked).get_json()
    assert answer == {"data": {"me": None}}
    for credential in (value, value.split(".")[0]):
        headers = {"Authorization": f"Bearer {credential}"}
        refused = here.client.post("/graphql/", json=asked, headers=headers).get_json()
        assert refused["data"]["me"] is None
    here.client.set_cookie("latchkey", value)
    assert here.open("/console/").status in (302, 303)
    assert "sign-in" in here.open("/console/").leads_to
    assert here.is_signed_in()


def test_console_cookie_opens_no_hosted_page(app: Flask, shop: Ports) -> None:
    make_user(shop, STAFF, is_superuser=True)
    desk = browser(app)
    entered = desk.send("/console/sign-in", email=STAFF, password=PASSWORD)
    assert entered.leads_to == "/console/"
    assert not desk.is_signed_in()
    desk.client.set_cookie("latchkey-account", desk.cookies()["latchkey"])
    assert not desk.is_signed_in()


@pytest.mark.first
def test_closed_storefront_refuses_every_page_whoever_it_is(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    make_user(shop, STAFF, is_superuser=True)
    people = [browser(app) for _ in range(3)]
    people[0].sign_in()
    people[1].sign_in(STAFF)
    assert [each.is_signed_in() for each in people] == [True, True, False]
    close_storefront(shop)
    for here in people:
        for method, path in forms_and_pages_of(app):
            entered = {"email": ANN, "password": PASSWORD}
            answer = here.open(path) if method == "GET" else post(here, path, **entered)
            assert (method, path, answer.status) == (method, path, 503)
            assert "is closed for now" in answer.text
            assert ANN not in answer.html
            assert "<form" not in answer.html
    assert people[0].open("/account/look.css").status == 200


@pytest.mark.parametrize("mode", list(PasswordLoginMode))
def test_login_mode_rules_every_way_to_sign_in(
    app: Flask, shop: Ports, mode: PasswordLoginMode
) -> None:
    make_user(shop, ANN)
    make_user(shop, STAFF, is_superuser=True)
    signed_in = browser(app)
    signed_in.sign_in()
    assert signed_in.is_signed_in()
    set_mode(shop, mode)
    is_on = mode is not PasswordLoginMode.DISABLED
    assert signed_in.is_signed_in() is is_on
    for email in (ANN, STAFF):
        here = browser(app)
        here.sign_in(email)
        assert here.is_signed_in() is is_on
    here = browser(app)
    page = here.open("/account/sign-in").text
    for way in ("Email me a code", "Enter password", "Sign in with a passkey"):
        assert (way in page) is is_on, way
    options = here.send("/account/sign-in/passkey/options", shown_at="/account/confirm")
    assert options.status == (200 if is_on else 422)


def test_registration_answers_alike_for_known_emails(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    texts = set()
    for email in (ANN, "new@example.com"):
        sent = browser(app).send("/account/register", name="A", email=email, password=PASSWORD)
        texts.add((sent.status, sent.text.replace(email, "EMAIL")))
    assert len(texts) == 1


def test_pages_cannot_be_framed_cached_or_run_foreign_code(app: Flask, shop: Ports) -> None:
    answer = browser(app).open("/account/sign-in").response
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self';" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cache-Control"] == "no-store"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_links_secret_leaves_the_address(app: Flask, shop: Ports) -> None:
    for path in ("/account/confirm", "/account/new-password"):
        here = browser(app)
        led = here.open(f"{path}?email=a%40example.com&token=secret")
        assert led.leads_to == path
        assert "secret" not in here.open(path).html
