"""Programs sign people in with the shop, by the libraries that such programs are built with."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urljoin

import pytest
import requests
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for
from werkzeug import Response

from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.oauth import DEFAULT_SCOPES, OFFLINE
from tests.builders.oauth import Registered, make_client
from tests.builders.shop import configure_shop
from tests.clients.conftest import CUSTOMER, PASSWORD, Shop, talk_to_client
from tests.servers.sandbox import PATIENCE
from tests.spec.server import SECRET

WEBSITE = "http://localhost:3000"
CALLBACKS = (f"{WEBSITE}/callback", f"{WEBSITE}/auth/callback/shop")
_CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
_STEPS = 12


@pytest.fixture(scope="module")
def client(_running_shop: Shop) -> Iterator[Registered]:
    """A client of the shop, which has turned its hosted pages on."""
    settings = Settings(database_url=_running_shop.server.database_url, secret_key=SECRET)
    ports = connect(settings)
    configure_shop(ports, hosted_pages=True)
    scopes = DEFAULT_SCOPES | {OFFLINE}
    yield make_client(
        ports,
        "Website",
        is_first_party=True,
        redirect_uris=CALLBACKS,
        post_logout_redirect_uris=(f"{WEBSITE}/bye",),
        scopes=scopes,
    )
    ports.database.close()


def visit(browser: requests.Session, url: str) -> str:
    """Follow ``url``, sign in on the way, and return where the program's URL is opened."""
    answer = browser.get(url, timeout=PATIENCE, allow_redirects=False)
    forms = iter(({"email": CUSTOMER, "method": "password"}, {"password": PASSWORD}))
    for _ in range(_STEPS):
        if answer.is_redirect:
            target = urljoin(answer.url, answer.headers["Location"])
            if target.startswith(WEBSITE):
                return target
            answer = browser.get(target, timeout=PATIENCE, allow_redirects=False)
        else:
            assert answer.status_code == 200, answer.text
            [token] = {unescape(found) for found in _CSRF.findall(answer.text)}
            form = {"csrf_token": token, **next(forms)}
            answer = browser.post(answer.url, form, timeout=PATIENCE, allow_redirects=False)
    raise AssertionError(f"no end of the sign-in: {answer.status_code} {answer.text}")


@pytest.mark.parametrize("library", ["openid-client", "oauth4webapi", "authjs"])
def test_library_signs_a_person_in(shop: Shop, client: Registered, library: str) -> None:
    with requests.Session() as browser:
        talk_to_client(
            "checks/relying-parties.mjs",
            shop,
            library,
            CUSTOMER,
            answer=lambda url: f"{visit(browser, url)}\n",
            ISSUER=shop.server.url,
            CLIENT_ID=client.id,
            CLIENT_SECRET=client.secret,
        )


def test_authlib_signs_a_person_in(shop: Shop, client: Registered) -> None:
    website = Flask(__name__)
    website.secret_key = "of the website"
    provider = OAuth(website).register(
        "shop",
        client_id=client.id,
        client_secret=client.secret,
        server_metadata_url=f"{shop.server.url}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid email offline_access", "code_challenge_method": "S256"},
    )

    @website.get("/")
    def begin() -> Response:
        answer: Response = provider.authorize_redirect(url_for("finish", _external=True))
        return answer

    @website.get("/callback")
    def finish() -> Response:
        session["tokens"] = provider.authorize_access_token()
        return redirect("/done")

    @website.get("/done")
    def done() -> dict[str, object]:
        tokens = session["tokens"]
        metadata = provider.load_server_metadata()
        with provider._get_oauth_client(**metadata) as http:  # noqa: SLF001
            http.token = tokens
            fresh = http.refresh_token(metadata["token_endpoint"])
            options = {"token": fresh["refresh_token"], "token_type_hint": "refresh_token"}
            told = http.introspect_token(metadata["introspection_endpoint"], **options).json()
            ended = http.revoke_token(metadata["revocation_endpoint"], **options).status_code
        return {"person": dict(tokens["userinfo"]), "told": told, "ended": ended}

    browser = website.test_client()
    begun = browser.get("/", base_url=WEBSITE)
    with requests.Session() as person:
        browser.get(visit(person, begun.headers["Location"]), base_url=WEBSITE)
    answer = browser.get("/done", base_url=WEBSITE).json or {}
    assert answer["person"]["email"] == CUSTOMER
    assert answer["told"]["active"] is True
    assert answer["ended"] == 200
