"""Threats to the OpenID provider that no single endpoint shows, each beside the legitimate use."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import jwt
import pytest
from flask import Flask

from app.composition.factory import create_app
from app.composition.settings import Settings, load_settings
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.oauth import DEFAULT_SCOPES, OFFLINE
from app.domain.shop.settings import PasswordLoginMode
from app.oauth.protocol import DEVICE
from app.ports import Ports
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.devices import begin_device
from tests.builders.apps import make_app
from tests.builders.oauth import (
    CALLBACK,
    VERIFIER,
    Registered,
    grant,
    let_in,
    make_client,
    make_code,
)
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, actor_of, make_user, sign_in
from tests.builders.providers import set_up
from tests.builders.shop import close_storefront, configure_shop
from tests.console.staff_client import Page
from tests.graphql.shop_client import ApiClient
from tests.hosted.conftest import app, shop
from tests.hosted.customer_browser import ANN, Browser, browser
from tests.oauth.pages import HOST, authorization
from tests.servers.own_provider import OwnProvider

__all__ = ["app", "shop"]

SCOPES = DEFAULT_SCOPES | {OFFLINE}
BASE = "http://localhost:8000"
BYE = "https://forum.example.com/bye"
LOCAL, OIDC = SessionOrigin.PASSWORD, SessionOrigin.OIDC


def ask(app: Flask, path: str, token: str) -> Any:
    headers = HOST | {"Authorization": f"Bearer {token}"}
    return app.test_client().get(path, headers=headers)


def send(app: Flask, path: str, client: Registered, **form: str) -> Any:
    auth = (client.id, client.secret)
    return app.test_client().post(path, data=form, auth=auth, headers=HOST)


def exchange(app: Flask, client: Registered, code: str) -> Any:
    form = {"code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    return send(app, "/oauth/token", client, grant_type="authorization_code", **form)


def refresh(app: Flask, client: Registered, token: str) -> Any:
    return send(app, "/oauth/token", client, grant_type="refresh_token", refresh_token=token)


def test_issuer_follows_no_header_of_the_request(shop: Ports) -> None:
    """Mix-up: a client knows by ``iss`` who answered, so no caller can choose it."""
    public = "https://shop.example.com"
    there = replace(shop, configuration=replace(shop.configuration, public_url=public))
    site = create_app(there, Settings())
    client = make_client(shop, is_first_party=True, allows_devices=True)
    make_user(shop, ANN)
    here = browser(site)
    here.sign_in()
    path = f"/oauth/authorize?{urlencode(authorization(client))}"
    refused = f"/oauth/authorize?{urlencode(authorization(client, response_type='token'))}"
    spoofed = {
        "Host": "evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "Forwarded": "host=evil.example",
    }
    for headers in ({}, spoofed):
        for place in ("openid-configuration", "oauth-authorization-server"):
            told = site.test_client().get(f"/.well-known/{place}", headers=headers).json or {}
            assert told["issuer"] == public
            urls = [told[name] for name in told if name.endswith(("_endpoint", "_uri"))]
            assert all(url.startswith(f"{public}/") for url in urls)
        auth = (client.id, client.secret)
        begun = site.test_client().post("/oauth/device_authorization", auth=auth, headers=headers)
        codes = begun.json or {}
        assert codes["verification_uri"] == f"{public}/oauth/device"
    for answer in (here.open(path), here.open(refused)):
        [iss] = parse_qs(urlsplit(answer.leads_to).query)["iss"]
        assert iss == public
        assert "evil" not in answer.leads_to


def test_id_token_is_no_access_token_anywhere(app: Flask, shop: Ports) -> None:
    """And the other way round: their issuers differ, and neither has the other's audience."""
    user = make_user(shop, ANN)
    client = make_client(shop, is_first_party=True, scopes=SCOPES)
    tokens = exchange(app, client, make_code(shop, client.client, actor_of(shop, user))).json
    identity, access = tokens["id_token"], tokens["access_token"]
    api = ApiClient(shop)
    verify = "mutation($t: String!) { tokenVerify(token: $t) { isValid } }"
    for token, works in ((access, True), (identity, False)):
        assert (ask(app, "/oauth/userinfo", token).status_code == 200) is works
        assert (api.ask("{ me { id } }", token)["data"]["me"] is not None) is works
        assert api.ask(verify, t=token)["data"]["tokenVerify"]["isValid"] is works
        looked_up = send(app, "/oauth/introspect", client, token=token).json
        assert looked_up["active"] is works
    guarded = create_app(shop, load_settings({"FORWARD_AUTH": "true"}))
    assert ask(guarded, "/auth/check", access).status_code == 200
    assert ask(guarded, "/auth/check", identity).status_code == 401
    claims = [jwt.decode(one, options={"verify_signature": False}) for one in (identity, access)]
    assert [one["iss"] for one in claims] == [BASE, f"{BASE}/graphql/"]
    assert claims[0]["aud"] == client.id
    assert client.id not in claims[1]["aud"]
    assert "type" not in claims[0]
    # What an ID token revokes is nothing.
    send(app, "/oauth/revoke", client, token=identity)
    assert ask(app, "/oauth/userinfo", access).status_code == 200


def test_refresh_tokens_work_where_they_come_from_alone(
    app: Flask, shop: Ports, provider: OwnProvider
) -> None:
    set_up(shop, provider)
    user = make_user(shop, ANN)
    client, other = (
        make_client(shop, name, is_first_party=True, scopes=SCOPES) for name in ("Forum", "Board")
    )
    provided, own = grant(shop, client.client, user, SCOPES).refresh_token, sign_in(shop, user)
    api = ApiClient(shop)
    renew = "mutation($t: String!) { tokenRefresh(refreshToken: $t) { token errors { code } } }"
    external = (
        "mutation($i: String!, $t: JSONString!) "
        "{ externalRefresh(pluginId: $i, input: $t) { token errors { code } } }"
    )
    sent = {
        "i": "latchkey.authentication.openidconnect",
        "t": json.dumps({"refreshToken": provided}),
    }
    for answer in (api.ask(renew, t=provided), api.ask(external, **sent)):
        [field] = answer["data"].values()
        assert field["token"] is None
        assert field["errors"]
    assert refresh(app, other, provided).json["error"] == "invalid_grant"
    assert refresh(app, client, own.refresh).json["error"] == "invalid_grant"
    # Each works at its own place, after all these attempts.
    assert refresh(app, client, provided).status_code == 200
    assert api.ask(renew, t=own.refresh)["data"]["tokenRefresh"]["token"]


WORKS: dict[str, tuple[bool, bool]] = {
    "authorize": (False, False),
    "confirm_logout": (False, False),
    "consent": (False, False),
    "describe": (True, True),
    "device": (False, False),
    "device_authorization": (False, False),
    "end_session": (False, False),
    "introspect": (False, False),
    "metadata": (True, True),
    "revoke": (False, True),
    "token: code": (False, False),
    "token: device": (False, False),
    "token: refresh": (False, False),
    "userinfo": (False, False),
}
"""What a customer's program gets whose flow was open: of a disabled client, in a closed shop."""


def test_every_endpoint_is_in_the_table(app: Flask) -> None:
    names = {
        rule.endpoint.split(".")[1].removesuffix("_preflight")
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("oauth.")
    }
    assert {name.partition(":")[0] for name in WORKS} == names


def open_flow(
    app: Flask, shop: Ports, client: Registered, email: str
) -> dict[str, Callable[[], bool]]:
    """Begin all that a program can begin; return what would complete each, by endpoint."""
    user = make_user(shop, email)
    actor, here, there = actor_of(shop, user), browser(app), browser(app)
    code = make_code(shop, client.client, actor, SCOPES)
    granted = grant(shop, client.client, user, SCOPES)
    revoked = grant(shop, client.client, user, SCOPES)
    for one in (here, there):
        one.sign_in(email)
    path = f"/oauth/authorize?{urlencode(authorization(client))}"
    asking = f"/oauth/authorize?{urlencode(authorization(client, prompt='consent'))}"
    consent = here.open(asking).html
    proof = consent.split('name="proof" value="')[1].split('"')[0]
    target = consent.split('action="/oauth/consent')[1].split('"')[0].replace("&amp;", "&")
    [own] = parse_qs(urlsplit(here.open(path).leads_to).query)["code"]
    back = {"post_logout_redirect_uri": BYE, "client_id": client.id}
    proven = {"id_token_hint": exchange(app, client, own).json["id_token"], **back}
    logout = f"/oauth/logout?{urlencode(proven)}"
    confirm = f"/oauth/logout/confirm?{urlencode(back)}"
    forms = here.fill(asking), here.fill("/oauth/device"), there.fill("/oauth/logout")
    waiting, connected = (begin_device(shop, NOBODY, client.client, SCOPES) for _ in range(2))
    let_in(shop, actor, connected.user_code)
    shown = here.send("/oauth/device", user_code=waiting.user_code).proof
    device = {"grant_type": DEVICE, "device_code": connected.device_code}

    def post(one: Browser, url: str, form: dict[str, str], **more: str) -> Page:
        return Page(one.client.post(url, data={**form, **more}))

    def connects() -> bool:
        entered = {"user_code": waiting.user_code, "decision": "allow", "proof": shown}
        return "Device connected" in post(here, "/oauth/device", forms[1], **entered).text

    def looks_up() -> bool:
        found = send(app, "/oauth/introspect", client, token=granted.access_token)
        return bool((found.json or {}).get("active"))

    def reads(place: str) -> Callable[[], bool]:
        return lambda: app.test_client().get(f"/.well-known/{place}").status_code == 200

    def sent(path: str, **form: str) -> Callable[[], bool]:
        return lambda: send(app, path, client, **form).status_code == 200

    return {
        "authorize": lambda: here.open(path).leads_to.startswith(f"{CALLBACK}?code="),
        "consent": lambda: post(
            here, f"/oauth/consent{target}", forms[0], proof=proof, decision="allow"
        ).leads_to.startswith(f"{CALLBACK}?code="),
        "describe": reads("openid-configuration"),
        "metadata": reads("oauth-authorization-server"),
        "device": connects,
        "device_authorization": sent("/oauth/device_authorization", scope="openid"),
        "introspect": looks_up,
        "revoke": sent("/oauth/revoke", token=revoked.access_token),
        "token: code": lambda: exchange(app, client, code).status_code == 200,
        "token: device": sent("/oauth/token", **device),
        "token: refresh": lambda: refresh(app, client, granted.refresh_token).status_code == 200,
        "userinfo": lambda: ask(app, "/oauth/userinfo", granted.access_token).status_code == 200,
        "end_session": lambda: here.open(logout, headers=HOST).leads_to == BYE,
        "confirm_logout": lambda: post(there, confirm, forms[2]).leads_to == BYE,
    }


@pytest.mark.first
def test_open_flow_ends_with_its_client_and_with_the_shop(app: Flask, shop: Ports) -> None:
    """At each endpoint, beside the same flow that goes on."""
    results: dict[str, dict[str, bool]] = {}
    for name in ("works", "disabled", "closed"):
        client = make_client(shop, name, allows_devices=True, post_logout_redirect_uris=(BYE,))
        flow = open_flow(app, shop, client, f"{name}@example.com")
        if name == "disabled":
            update_client(shop, OPERATOR, client.id, ClientChange(is_active=False))
        if name == "closed":
            close_storefront(shop)
        results[name] = {endpoint: complete() for endpoint, complete in flow.items()}
    assert results["works"] == dict.fromkeys(WORKS, True)
    assert results["disabled"] == {name: works for name, (works, _) in WORKS.items()}
    assert results["closed"] == {name: works for name, (_, works) in WORKS.items()}


@pytest.mark.first
@pytest.mark.parametrize("mode", list(PasswordLoginMode))
def test_closed_storefront_and_login_mode_rule_every_endpoint(
    app: Flask, shop: Ports, mode: PasswordLoginMode
) -> None:
    client = make_client(shop, is_first_party=True, allows_devices=True, scopes=SCOPES | {"staff"})
    apps = make_client(shop, "Sync", app_id=make_app(shop, "Sync")[0])
    ann, sam = make_user(shop, ANN), make_user(shop, "sam@example.com", is_staff=True)
    held = {
        (user, origin, scopes): (
            grant(shop, client.client, user, scopes, origin),
            make_code(shop, client.client, actor_of(shop, user, origin), scopes),
        )
        for user in (ann, sam)
        for origin in (LOCAL, OIDC)
        for scopes in (SCOPES, SCOPES | {"staff"})
    }
    is_closed = mode is not PasswordLoginMode.ENABLED
    states = [(mode, False), (mode, True)] if is_closed else [(mode, True)]
    for login_mode, closed in states:
        configure_shop(
            shop, password_login_mode=login_mode.value, allow_storefront_traffic=not closed
        )
        for (user, origin, scopes), (granted, code) in held.items():
            is_let_in = not (mode is PasswordLoginMode.DISABLED and origin is LOCAL)
            has_rights = user == sam and (mode is PasswordLoginMode.ENABLED or origin is OIDC)
            works = is_let_in and (not closed or (has_rights and "staff" in scopes))
            looked_up = send(app, "/oauth/introspect", client, token=granted.access_token).json
            seen = [
                ask(app, "/oauth/userinfo", granted.access_token).status_code == 200,
                looked_up["active"],
            ]
            if closed:  # used up only once
                seen += [
                    exchange(app, client, code).status_code == 200,
                    refresh(app, client, granted.refresh_token).status_code == 200,
                ]
            assert set(seen) == {works}, (mode, closed, user == sam, origin, sorted(scopes), seen)
        for_app = send(app, "/oauth/token", apps, grant_type="client_credentials")
        assert for_app.status_code == 200
        begun = send(app, "/oauth/device_authorization", client, scope="openid")
        assert begun.status_code == (403 if closed else 200)
        for path in ("/oauth/authorize", "/oauth/device"):
            shown = app.test_client().get(f"{path}?{urlencode(authorization(client))}")
            assert shown.status_code == (503 if closed else 303), path
            assert app.test_client().post("/oauth/consent").status_code == (503 if closed else 400)


def test_no_referrer_leaves_with_a_code_or_request(app: Flask, shop: Ports) -> None:
    """Pages load nothing from elsewhere, and links and redirects tell no other site the URL."""
    make_user(shop, ANN)
    client, here = make_client(shop), browser(app)
    path = f"/oauth/authorize?{urlencode(authorization(client))}"
    here.sign_in()
    pages = [here.open(path), here.open("/oauth/device?user_code=WDJB-MJHT")]
    pages += [browser(app).open(f"/account/sign-in?next={quote(path)}")]
    own = make_client(shop, "Own", is_first_party=True)
    pages += [here.open(f"/oauth/authorize?{urlencode(authorization(own))}")]
    assert pages[-1].leads_to.startswith(f"{CALLBACK}?code=")
    for page in pages:
        assert page.response.headers["Referrer-Policy"] in ("same-origin", "no-referrer")
        assert page.response.headers["Cache-Control"] == "no-store"
        assert 'src="http' not in page.html
        assert 'href="http' not in page.html


def test_passkey_options_tell_of_no_account(app: Flask, shop: Ports) -> None:
    """They name no credential, so no email can be tried for one that has a passkey."""
    key = make_user(shop, ANN)
    make_passkey(shop, key, SoftwareAuthenticator())

    def options(here: Browser, **fields: str) -> Any:
        return here.send("/account/sign-in/passkey/options", "/account/sign-in", **fields)

    answers = [options(browser(app), email=email) for email in (ANN, "nobody@example.com", "")]
    assert {answer.status for answer in answers} == {200}
    for answer in answers:
        told = json.dumps(answer.response.json)
        assert ANN not in told
        shown = json.loads(told)
        inner = shown.get("options", shown)
        inner = json.loads(inner) if isinstance(inner, str) else inner
        inner = inner.get("publicKey", inner)
        assert not inner.get("allowCredentials")


def test_spelling_of_an_international_name_is_compared_not_converted(
    app: Flask, shop: Ports
) -> None:
    make_user(shop, ANN)
    uri = "https://xn--bcher-kva.example/callback"
    client = make_client(shop, is_first_party=True, redirect_uris=(uri,))
    here = browser(app)
    here.sign_in()
    for other in (
        "https://b\u00fccher.example/callback",
        "https://b\u0075\u0308cher.example/callback",
        "https://XN--BCHER-KVA.example/callback",
        "https://xn--bcher-kva.example./callback",
        "https://xn--bcher-kva.example:443/callback",
        "https://xn--bcher-kva.example/c%61llback",
    ):
        query = urlencode(authorization(client, redirect_uri=other))
        answer = here.open(f"/oauth/authorize?{query}")
        assert answer.status == 400, other
        assert not answer.leads_to
    query = urlencode(authorization(client, redirect_uri=uri))
    assert here.open(f"/oauth/authorize?{query}").leads_to.startswith(f"{uri}?code=")


def test_client_that_is_disabled_while_its_page_is_open_gets_nothing(
    app: Flask, shop: Ports
) -> None:
    user = make_user(shop, ANN)
    client, here = make_client(shop), browser(app)
    here.sign_in()
    path = f"/oauth/authorize?{urlencode(authorization(client))}"
    shown = here.open(path).html
    action = shown.split('action="/oauth/consent')[1].split('"')[0].replace("&amp;", "&")
    proof = shown.split('name="proof" value="')[1].split('"')[0]

    def allow() -> Any:
        return here.send(f"/oauth/consent{action}", path, proof=proof, decision="allow")

    update_client(shop, OPERATOR, client.id, ClientChange(is_active=False))
    token = shown.split('name="csrf_token" value="')[1].split('"')[0]
    form = {"csrf_token": token, "proof": proof, "decision": "allow"}
    refused = here.client.post(f"/oauth/consent{action}", data=form)
    assert (refused.status_code, refused.headers.get("Location")) == (400, None)
    update_client(shop, OPERATOR, client.id, ClientChange(is_active=True))
    location = allow().leads_to
    assert location.startswith(f"{CALLBACK}?code=")
    [code] = parse_qs(urlsplit(location).query)["code"]
    assert exchange(app, client, code).status_code == 200
    assert user
