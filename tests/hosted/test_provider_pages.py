"""Programs sign people in at the hosted pages: sign-in, consent, and the way back."""

import html
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from flask import Flask

from app.domain.authorization.actor import WORKER
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.oauth.client_sessions import report_ended_sessions
from tests.builders.oauth import CALLBACK, VERIFIER, Registered, make_client
from tests.builders.people import PASSWORD, make_user
from tests.builders.shop import close_storefront, configure_shop
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.hosted.customer_browser import ANN, Browser, browser
from tests.oauth.pages import authorization

AUTHORIZE = "/oauth/authorize"
_ACTION = re.compile(r'action="(/oauth/consent[^"]*)"')
_PROOF = re.compile(r'name="proof" value="([^"]+)"')


def path_of(client: Registered, **changes: str | None) -> str:
    return f"{AUTHORIZE}?{urlencode(authorization(client, **changes))}"


def decide(here: Browser, path: str, decision: str) -> str:
    """Answer the consent page at ``path``; return where that leads."""
    shown = here.open(path).html
    [action], [proof] = _ACTION.findall(shown), _PROOF.findall(shown)
    answer = here.send(html.unescape(action), path, proof=proof, decision=decision)
    return answer.response.headers["Location"]


def exchange(app: Flask, client: Registered, location: str) -> Any:
    [code] = parse_qs(urlsplit(location).query)["code"]
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        "client_id": client.id,
        "client_secret": client.secret,
    }
    return app.test_client().post("/oauth/token", data=form)


def test_person_signs_in_allows_a_program_and_is_led_back(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    client, here = make_client(shop), browser(app)
    path = path_of(client)
    first = here.open(path)
    assert first.leads_to == f"/account/sign-in?{urlencode({'next': path})}"
    # The browser follows the form's answer to the program, so the policy names it.
    policy = here.open(first.leads_to).response.headers["Content-Security-Policy"]
    assert "form-action 'self' https://forum.example.com;" in policy
    assert here.sign_in(target=quote(path, safe="")).leads_to == path
    page = here.open(path)
    assert "Allow Forum to see your account?" in page.text
    assert "forum.example.com" in page.text
    assert "See your email" in page.text
    headers = page.response.headers
    assert "form-action 'self' https://forum.example.com;" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "access_denied" in decide(here, path, "deny")
    location = decide(here, path, "allow")
    assert location.startswith(f"{CALLBACK}?code=")
    tokens = exchange(app, client, location)
    assert tokens.status_code == 200
    bearer = {"Authorization": f"Bearer {tokens.json['access_token']}"}
    told = app.test_client().get("/oauth/userinfo", headers=bearer)
    assert (told.json or {})["email"] == ANN
    assert "Set-Cookie" not in told.headers
    # Remembered from now on.
    assert here.open(path).response.headers["Location"].startswith(f"{CALLBACK}?code=")


def test_first_party_is_not_asked_for_consent(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    own, other = make_client(shop, "Storefront", is_first_party=True), make_client(shop)
    here = browser(app)
    here.sign_in()
    led = here.open(path_of(own)).response
    assert led.headers["Location"].startswith(f"{CALLBACK}?code=")
    assert exchange(app, own, led.headers["Location"]).status_code == 200
    assert "Allow Forum to see your account?" in here.open(path_of(other)).text


def test_second_click_on_consent_leads_back_with_a_code(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    client, here = make_client(shop), browser(app)
    here.sign_in()
    path = path_of(client)
    shown = here.open(path).html
    [action], [proof] = _ACTION.findall(shown), _PROOF.findall(shown)
    filled = here.fill(path, proof=proof, decision="allow")

    def click() -> str:
        return str(here.client.post(html.unescape(action), data=filled).headers["Location"])

    first = click()
    assert first.startswith(f"{CALLBACK}?code=")
    granted = exchange(app, client, first)
    # A code that is used twice would end the first grant, so the second is another.
    second = exchange(app, client, click())
    bearers = [f"Bearer {tokens.json['access_token']}" for tokens in (granted, second)]
    for bearer in bearers:
        told = app.test_client().get("/oauth/userinfo", headers={"Authorization": bearer})
        assert told.status_code == 200
    # The control: that is what the first code does when it comes again.
    assert exchange(app, client, first).status_code == 400
    told = app.test_client().get("/oauth/userinfo", headers={"Authorization": bearers[0]})
    assert told.status_code == 401


def test_consent_forms_in_two_tabs_lead_each_to_its_own_program(app: Flask, shop: Ports) -> None:
    """Each with a code that works, also for the same request twice."""
    make_user(shop, ANN)
    clients, here = (make_client(shop), make_client(shop, "Board")), browser(app)
    here.sign_in()
    tabs = [
        (client, path_of(client, state=state))
        for client, state in ((clients[0], "a"), (clients[1], "b"), (clients[0], "a"))
    ]
    forms = []
    for _, path in tabs:
        shown = here.open(path).html
        [action], [proof] = _ACTION.findall(shown), _PROOF.findall(shown)
        forms.append((html.unescape(action), here.fill(path, proof=proof, decision="allow")))
    led = [here.client.post(path, data=data).headers["Location"] for path, data in forms]
    assert [parse_qs(urlsplit(one).query)["state"] for one in led] == [["a"], ["b"], ["a"]]
    tokens = [
        exchange(app, client, location) for (client, _), location in zip(tabs, led, strict=True)
    ]
    assert [one.status_code for one in tokens] == [200, 200, 200]
    # The control: a form of one program allows no other.
    (path, _), (_, data) = forms[:2]
    assert "out of date" in here.send(path, tabs[0][1], **data).text
    for one in tokens:
        bearer = {"Authorization": f"Bearer {one.json['access_token']}"}
        assert app.test_client().get("/oauth/userinfo", headers=bearer).status_code == 200


def test_new_sign_in_is_asked_of_someone_who_is_signed_in(
    app: Flask, shop: Ports, clock: FakeClock
) -> None:
    make_user(shop, ANN)
    client, here = make_client(shop, is_first_party=True), browser(app)
    here.sign_in()
    clock.pass_(minutes=10)
    for changes in ({"prompt": "login"}, {"max_age": "60"}):
        asked = here.open(path_of(client, **changes)).leads_to
        assert here.open(asked).status == 200, "the page asks, and doesn't lead on by itself"
        [target] = parse_qs(urlsplit(asked).query)["next"]
        assert here.open(target).leads_to.startswith("/account/sign-in?"), changes
        clock.pass_(seconds=5)
        query = asked.partition("?")[2]
        here.send(f"/account/sign-in?{query}", email=ANN, method="password")
        done = here.send(f"/account/sign-in/password?{query}", password=PASSWORD)
        assert done.leads_to == target
        assert here.open(target).response.headers["Location"].startswith(CALLBACK), changes
        clock.pass_(minutes=10)


def test_form_of_another_site_allows_nothing(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    client, here = make_client(shop), browser(app)
    here.sign_in()
    path = path_of(client)
    shown = here.open(path).html
    [action], [proof] = _ACTION.findall(shown), _PROOF.findall(shown)
    for fields in (
        {"decision": "allow"},
        {"decision": "allow", "proof": proof},
        {"decision": "allow", "proof": proof, "csrf_token": "x"},
    ):
        answer = here.client.post(html.unescape(action), data=fields)
        assert answer.status_code == 400, fields
    assert "Allow Forum" in here.open(path).text
    assert "code=" in decide(here, path, "allow")


def test_closed_storefront_shows_its_page_before_anything_else(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN, is_superuser=True)
    client, here = make_client(shop, is_first_party=True), browser(app)
    here.sign_in()
    assert "code=" in here.open(path_of(client)).response.headers["Location"]
    close_storefront(shop)
    for path in (path_of(client), path_of(client, prompt="none"), path_of(client, client_id="x")):
        page = here.open(path)
        assert (page.status, page.leads_to) == (503, ""), path
    assert here.client.post("/oauth/consent").status_code == 503
    configure_shop(shop, hosted_pages=False)
    assert here.open(path_of(client)).status == 404


def test_request_in_no_form_is_explained_to_the_person(app: Flask, shop: Ports) -> None:
    client, here = make_client(shop), browser(app)
    for changes in ({"client_id": "x"}, {"redirect_uri": "https://evil.example/"}):
        page = here.open(path_of(client, **changes))
        assert (page.status, page.leads_to) == (400, "")
        assert "This sign-in can't go on" in page.text
    path = path_of(client, redirect_uri="https://x.example/")
    sign_in = f"/account/sign-in?{urlencode({'next': path})}"
    assert "x.example" not in here.open(sign_in).response.headers["Content-Security-Policy"]


def test_cookie_of_the_pages_opens_nothing_else(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN, is_superuser=True)
    here = browser(app)
    here.sign_in()
    assert here.client.get("/oauth/userinfo").status_code == 401
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    assert here.client.post("/oauth/token", data=form).status_code == 401


def test_person_is_asked_before_a_program_signs_them_out(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    bye = "https://forum.example.com/bye"
    client = make_client(shop, is_first_party=True, post_logout_redirect_uris=(bye,))
    here = browser(app)
    here.sign_in()
    query = urlencode({"client_id": client.id, "post_logout_redirect_uri": bye, "state": "s"})
    path = f"/oauth/logout?{query}"
    asked = here.open(path)
    assert "Forum asks to sign you out." in asked.text
    policy = asked.response.headers["Content-Security-Policy"]
    assert "form-action 'self' https://forum.example.com;" in policy
    confirm = f"/oauth/logout/confirm?{query}"
    # Another site's form has no token of the page.
    assert here.client.post(confirm).status_code == 400
    assert here.is_signed_in()
    assert here.send(confirm, path).response.headers["Location"] == f"{bye}?state=s"
    assert not here.is_signed_in()
    refused = here.open("/oauth/logout?post_logout_redirect_uri=https://evil.example/")
    assert (refused.status, refused.leads_to) == (400, "")
    here.sign_in()
    plain = here.send("/oauth/logout/confirm", "/oauth/logout")
    assert "You are signed out." in here.open(plain.leads_to).text


def test_signing_in_again_keeps_programs_signed_in(
    app: Flask, shop: Ports, clock: FakeClock
) -> None:
    for email in (ANN, "bob@example.com"):
        make_user(shop, email)
    told_at = "https://forum.example.com/logout"
    client = make_client(shop, is_first_party=True, backchannel_logout_uri=told_at)
    here = browser(app)
    here.sign_in()
    back = here.open(path_of(client)).response.headers["Location"]
    assert exchange(app, client, back).status_code == 200
    http = FakeHttp(shop.database, lambda _request: HttpResponse(200))
    sending = replace(shop, http=http)
    for email, told in ((ANN, 0), ("bob@example.com", 1)):
        clock.pass_(seconds=5)
        here.sign_in(email, target=quote(path_of(client, prompt="login"), safe="") + "&again=1")
        assert here.is_signed_in()
        report_ended_sessions(sending, WORKER)
        assert len(http.requests) == told, email
