"""The OpenID Foundation's tests of providers, by their public names, as far as they can run here.

``docs/security/openid-conformance.md`` lists them all, with the result of those that aren't run.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

import jwt
import pytest

from app.domain.authorization.actor import WORKER
from app.domain.oauth import PERSONAL_SCOPES
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.oauth.client_sessions import report_ended_sessions
from tests.builders.addresses import make_address
from tests.builders.oauth import CALLBACK, Registered, make_client
from tests.builders.people import make_user
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.oauth.pages import BASE, Provider, next_path, provider_of, sent_back
from tests.servers.run import ROOT

BYE = "https://forum.example.com/bye"
TOLD_AT = "https://forum.example.com/logout"
SCOPES = frozenset(PERSONAL_SCOPES)
_PAGE = ROOT / "docs" / "security" / "openid-conformance.md"
_ROW = re.compile(r"^\| `(oidcc-[a-z0-9-]+)` \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)


@dataclass(slots=True)
class Suite:
    """A provider with a client and a person who is signed in."""

    ports: Ports
    clock: FakeClock
    provider: Provider
    client: Registered
    user: int

    def sign_in(self) -> None:
        self.provider.pages.sign_in(self.user)

    def authorize(self, **changes: str | None) -> Any:
        return self.provider.authorize(self.client, **changes)

    def tokens(self, **changes: str | None) -> dict[str, Any]:
        """Run the flow to its end; return the token response with the ID token's claims."""
        code = self.provider.code(self.client, **changes)
        answer = self.provider.exchange(self.client, code)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        tokens: dict[str, Any] = answer.json()
        assert tokens["token_type"] == "Bearer"
        nonce = None if "nonce" in changes else "of the browser"
        return tokens | {"claims": self.claims(tokens["id_token"], nonce)}

    def claims(self, token: str, nonce: str | None) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        assert header["alg"] == "RS256"
        keys = jwt.PyJWKSet.from_dict(self.provider.get("/.well-known/jwks.json").json())
        unchecked: Any = {"verify_exp": False, "verify_iat": False}
        claims: dict[str, Any] = jwt.decode(
            token,
            keys[header["kid"]],
            ["RS256"],
            audience=self.client.id,
            issuer=BASE,
            options=unchecked,
        )
        assert claims.keys() >= {"sub", "exp", "iat", "at_hash"}
        assert claims.get("nonce") == nonce
        assert claims["exp"] > self.clock.timestamp() >= claims["iat"]
        return claims

    def userinfo(self, **changes: str | None) -> dict[str, Any]:
        tokens = self.tokens(**changes)
        told: dict[str, Any] = self.provider.userinfo(tokens["access_token"]).json()
        assert told["sub"] == tokens["claims"]["sub"]
        return told

    def log_out(self, **values: str) -> Any:
        return self.provider.get(f"/oauth/logout?{urlencode(values)}")

    def is_signed_in(self) -> bool:
        return self.provider.pages.person is not None

    def discovered(self) -> dict[str, Any]:
        found: dict[str, Any] = self.provider.get("/.well-known/openid-configuration").json()
        return found


Case = Callable[[Suite], None]
CASES: dict[str, Case] = {}


def case(*names: str) -> Callable[[Case], Case]:
    def add(run: Case) -> Case:
        CASES.update(dict.fromkeys(names, run))
        return run

    return add


@case("oidcc-server", "oidcc-ensure-request-with-valid-pkce-succeeds", "oidcc-idtoken-signature")
def _(suite: Suite) -> None:
    suite.tokens()


@case("oidcc-response-type-missing")
def _(suite: Suite) -> None:
    answer = suite.authorize(response_type=None)
    assert "code" not in answer.headers.get("Location", "").partition("?")[2], answer.headers


@case("oidcc-userinfo-get", "oidcc-userinfo-post-header")
def _(suite: Suite) -> None:
    token = suite.tokens()["access_token"]
    got = suite.provider.userinfo(token)
    posted = suite.provider.post("/oauth/userinfo", Authorization=f"Bearer {token}")
    assert got.json() == posted.json()
    assert got.json()["sub"]
    assert got.headers["Content-Type"] == "application/json"


@case("oidcc-ensure-request-without-nonce-succeeds-for-code-flow")
def _(suite: Suite) -> None:
    suite.tokens(nonce=None)


_CLAIMS = {
    "profile": {"name", "given_name", "family_name", "locale", "updated_at"},
    "email": {"email", "email_verified"},
    "address": {"address"},
    "phone": {"phone_number", "phone_number_verified"},
}


@case("oidcc-scope-profile", "oidcc-scope-email", "oidcc-scope-address", "oidcc-scope-phone")
def _(suite: Suite) -> None:
    for scope, claims in _CLAIMS.items():
        assert suite.userinfo(scope=f"openid {scope}").keys() == {"sub"} | claims, scope


@case("oidcc-scope-all", "oidcc-ensure-other-scope-order-succeeds")
def _(suite: Suite) -> None:
    everything = {"sub"}.union(*_CLAIMS.values())
    for scope in ("openid profile email address phone", "phone email address profile openid"):
        assert suite.userinfo(scope=scope).keys() == everything


@case("oidcc-display-page", "oidcc-display-popup", "oidcc-login-hint", "oidcc-ui-locales")
@case("oidcc-claims-locales", "oidcc-ensure-request-with-unknown-parameter-succeeds")
@case("oidcc-ensure-request-with-acr-values-succeeds")
def _(suite: Suite) -> None:
    for name, value in {
        "display": "page popup",
        "login_hint": "customer@example.com",
        "ui_locales": "se",
        "claims_locales": "se",
        "extra": "foobar",
        "acr_values": "1 2",
    }.items():
        for one in value.split() if name == "display" else [value]:
            suite.tokens(**{name: one})


@case("oidcc-prompt-login", "oidcc-max-age-1")
def _(suite: Suite) -> None:
    for options in ({"prompt": "login"}, {"max_age": "1"}):
        before = suite.tokens()["claims"]
        suite.clock.pass_(seconds=2)
        asked = suite.authorize(**options)
        assert asked.headers["Location"].startswith("/account/again?"), options
        suite.clock.pass_(seconds=2)
        suite.sign_in()
        [code] = sent_back(suite.provider.get(next_path(asked)))["code"]
        token = suite.provider.exchange(suite.client, code).json()["id_token"]
        after = suite.claims(token, "of the browser")
        assert after["sub"] == before["sub"]
        assert after["auth_time"] > before["auth_time"], options


@case("oidcc-max-age-10000", "oidcc-prompt-none-logged-in", "oidcc-id-token-hint")
def _(suite: Suite) -> None:
    before = suite.tokens()
    suite.clock.pass_(seconds=60)
    hint = before["id_token"]
    for options in (
        {"max_age": "10000"},
        {"prompt": "none"},
        {"prompt": "none", "id_token_hint": hint},
    ):
        claims = suite.tokens(**options)["claims"]
        for name in ("sub", "auth_time"):
            assert claims[name] == before["claims"][name], options


@case("oidcc-prompt-none-not-logged-in")
def _(suite: Suite) -> None:
    suite.provider.pages.person = None
    back = sent_back(suite.authorize(prompt="none"))
    assert (back["error"], back["state"]) == (["login_required"], ["of the client"])


@case("oidcc-codereuse", "oidcc-codereuse-30seconds")
def _(suite: Suite) -> None:
    for seconds in (0, 30):
        code = suite.provider.code(suite.client)
        token = suite.provider.exchange(suite.client, code).json()["access_token"]
        assert suite.provider.userinfo(token).status_code == 200
        suite.clock.pass_(seconds=seconds)
        again = suite.provider.exchange(suite.client, code)
        assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
        assert suite.provider.userinfo(token).status_code == 401


@case("oidcc-ensure-registered-redirect-uri")
def _(suite: Suite) -> None:
    answer = suite.authorize(redirect_uri=f"{CALLBACK}/other")
    assert (answer.status_code, "Location" in answer.headers) == (400, False)


@case("oidcc-ensure-post-request-succeeds")
def _(suite: Suite) -> None:
    from_form = suite.provider.post(
        "/oauth/authorize",
        {
            "response_type": "code",
            "client_id": suite.client.id,
            "redirect_uri": CALLBACK,
            "scope": "openid",
            "code_challenge": "x" * 43,
            "code_challenge_method": "S256",
        },
    )
    assert "code" in sent_back(suite.provider.get(from_form.headers["Location"]))


@case("oidcc-server-client-secret-post")
def _(suite: Suite) -> None:
    public = replace(suite.client, secret="")
    secret = {"client_secret": suite.client.secret}
    code = suite.provider.code(suite.client)
    assert "id_token" in suite.provider.exchange(public, code, **secret).json()


@case("oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported")
@case("oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported")
def _(suite: Suite) -> None:
    for name in ("request", "request_uri"):
        back = sent_back(suite.authorize(**{name: "https://forum.example.com/x"}))
        assert back["error"] == [f"{name}_not_supported"]
        assert suite.discovered()[f"{name}_parameter_supported"] is False


@case("oidcc-refresh-token")
def _(suite: Suite) -> None:
    first = suite.tokens(scope="openid offline_access")
    answer = suite.provider.refresh(suite.client, first["refresh_token"]).json()
    claims = suite.claims(answer["id_token"], None)
    for name in ("sub", "auth_time"):
        assert claims[name] == first["claims"][name]
    assert suite.provider.userinfo(answer["access_token"]).status_code == 200
    other = make_client(suite.ports, "Other", is_first_party=True)
    stolen = suite.provider.refresh(other, answer["refresh_token"])
    assert stolen.json()["error"] == "invalid_grant"


@case("oidcc-discovery-endpoint-verification")
@case("oidcc-rp-initiated-logout-discovery-endpoint-verification")
@case("oidcc-backchannel-logout-discovery-endpoint-verification")
def _(suite: Suite) -> None:
    found = suite.discovered()
    assert found["issuer"] == BASE
    for name, value in found.items():
        if name.endswith("_endpoint") or name == "jwks_uri":
            assert value.startswith(f"{BASE}/"), name
    assert "openid" in found["scopes_supported"]
    assert found["response_types_supported"] == ["code"]
    assert "public" in found["subject_types_supported"]
    assert "RS256" in found["id_token_signing_alg_values_supported"]
    assert "none" not in found["id_token_signing_alg_values_supported"]
    assert found["end_session_endpoint"]
    assert found["backchannel_logout_supported"] is True
    assert found["backchannel_logout_session_supported"] is True
    keys = suite.provider.get("/.well-known/jwks.json").json()["keys"]
    assert len({key["kid"] for key in keys}) == len(keys)
    assert not any("d" in key for key in keys)


@case("oidcc-rp-initiated-logout", "oidcc-rp-initiated-logout-no-state")
def _(suite: Suite) -> None:
    for state, location in (({"state": "a state"}, f"{BYE}?state=a+state"), ({}, BYE)):
        suite.sign_in()
        hint = suite.tokens()["id_token"]
        back = {"id_token_hint": hint, "post_logout_redirect_uri": BYE}
        assert suite.log_out(**back, **state).headers["Location"] == location
        assert "error" in sent_back(suite.authorize(prompt="none"))


@case("oidcc-rp-initiated-logout-bad-post-logout-redirect-uri")
@case("oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri")
@case("oidcc-rp-initiated-logout-modified-id-token-hint")
@case("oidcc-rp-initiated-logout-bad-id-token-hint", "oidcc-rp-initiated-logout-no-id-token-hint")
def _(suite: Suite) -> None:
    hint = suite.tokens()["id_token"]
    unsigned = jwt.encode({"iss": BASE, "sub": "x", "aud": suite.client.id}, "", "none")
    good = {"id_token_hint": hint, "post_logout_redirect_uri": BYE, "state": "x"}
    for changes in (
        {"post_logout_redirect_uri": f"{BYE}/other"},
        {"post_logout_redirect_uri": f"{BYE}?foo=bar"},
        {"id_token_hint": f"{hint[:-6]}AAAAAA"},
        {"id_token_hint": unsigned},
        {"id_token_hint": ""},
    ):
        values = {name: value for name, value in {**good, **changes}.items() if value}
        answer = suite.log_out(**values)
        assert (answer.status_code, "Location" in answer.headers) == (400, False), changes
        assert suite.is_signed_in()


@case("oidcc-rp-initiated-logout-no-params", "oidcc-rp-initiated-logout-only-state")
def _(suite: Suite) -> None:
    for values in ({}, {"state": "x"}):
        assert suite.log_out(**values).text == "Sign out?"
        assert suite.is_signed_in()


@case("oidcc-rp-initiated-logout-no-post-logout-redirect-uri")
def _(suite: Suite) -> None:
    assert suite.log_out(id_token_hint=suite.tokens()["id_token"]).text == "signed out"
    assert not suite.is_signed_in()


@case("oidcc-backchannel-rp-initiated-logout")
def _(suite: Suite) -> None:
    http = FakeHttp(suite.ports.database, lambda _request: HttpResponse(200))
    sending = replace(suite.ports, http=http)
    while report_ended_sessions(sending, WORKER):
        """What the cases before ended."""
    http.requests.clear()
    tokens = suite.tokens()
    back = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE}
    assert suite.log_out(**back).headers["Location"] == BYE
    while report_ended_sessions(sending, WORKER):
        """One row is that of the grant."""
    [request] = http.requests
    assert request.url == TOLD_AT
    [token] = parse_qs((request.body or b"").decode())["logout_token"]
    told = jwt.decode(token, options={"verify_signature": False})
    for name in ("sub", "sid", "iss", "aud"):
        assert told[name] == tokens["claims"][name]
    assert "login_required" in sent_back(suite.authorize(prompt="none"))["error"]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def suite(ports: Ports, clock: FakeClock) -> Iterator[Suite]:
    client = make_client(
        ports,
        is_first_party=True,
        scopes=SCOPES,
        post_logout_redirect_uris=(BYE,),
        backchannel_logout_uri=TOLD_AT,
    )
    user = make_user(ports, first_name="Ann", last_name="Lee")
    make_address(ports, user)
    with provider_of(ports) as provider:
        yield Suite(ports, clock, provider, client, user)


@pytest.mark.first
def test_provider_passes_the_foundations_tests(suite: Suite) -> None:
    for run in dict.fromkeys(CASES.values()):
        names = ", ".join(name for name, one in CASES.items() if one is run)
        suite.sign_in()
        try:
            run(suite)
        except (AssertionError, KeyError, ValueError, jwt.PyJWTError) as fault:
            pytest.fail(f"{names}: {fault!r}")


def test_table_names_the_tests_that_pass() -> None:
    rows = _ROW.findall(_PAGE.read_text())
    names = [name for name, _, _ in rows]
    assert len(set(names)) == len(names)
    assert {name for name, result, _ in rows if result.startswith("passes")} == CASES.keys()
    assert all(reason for _, result, reason in rows if result != "passes")
