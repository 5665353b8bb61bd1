"""An ID token is recognized by what only ID tokens have: the tokens of well-known providers."""

from dataclasses import replace

import pytest

from app.domain.single_sign_on.provider_tokens import (
    ProviderTokenRejected,
    SignedToken,
    is_id_token,
    read_bearer_token,
)
from app.domain.single_sign_on.providers import Provider
from tests.fixtures.cases import cases

NOW = 1_800_000_000.0
ISSUER, CLIENT, API = "https://id.example", "shop", "https://shop.example/api"
OPEN = Provider(1, "default", "One", active=True, issuer=ISSUER, client_id=CLIENT)
FOR_API = replace(OPEN, audience=API)
PLAIN = {"iss": ISSUER, "sub": "alice", "iat": NOW, "exp": NOW + 60}
PERSON = {"name": "Alice", "email": "alice@sso.example", "email_verified": True}

ACCESS: dict[str, tuple[str | None, dict[str, object]]] = {
    "Auth0": (
        "JWT",
        {"aud": [API, f"{ISSUER}/userinfo"], "azp": CLIENT, "scope": "openid profile email"},
    ),
    "Auth0, RFC 9068": (
        "at+jwt",
        {"aud": API, "client_id": CLIENT, "jti": "1", "scope": "openid", "permissions": []},
    ),
    "Okta": (
        None,
        {
            "ver": 1,
            "jti": "AT.1",
            "aud": "api://default",
            "cid": CLIENT,
            "uid": "00u1",
            "scp": ["openid", "profile"],
            "auth_time": NOW - 5,
        },
    ),
    "Entra ID, v2": (
        "JWT",
        {
            "aud": CLIENT,
            "nbf": NOW,
            "azp": CLIENT,
            "azpacr": "1",
            "name": "Alice",
            "oid": "1",
            "preferred_username": "alice@sso.example",
            "scp": "access_as_user",
            "tid": "1",
            "uti": "1",
            "ver": "2.0",
        },
    ),
    "Entra ID, v1": (
        "JWT",
        {
            "aud": f"api://{CLIENT}",
            "nbf": NOW,
            "acr": "1",
            "amr": ["pwd", "mfa"],
            "appid": "another",
            "scp": "user_impersonation",
            "ver": "1.0",
        },
    ),
    "Cognito": (
        None,
        {
            "token_use": "access",
            "client_id": CLIENT,
            "event_id": "1",
            "scope": "openid email",
            "auth_time": NOW - 5,
            "username": "alice",
            "version": 2,
        },
    ),
    "Keycloak before 25": (
        "JWT",
        {
            "typ": "Bearer",
            "aud": "account",
            "azp": CLIENT,
            "nonce": "n",
            "session_state": "1",
            "acr": "1",
            "scope": "openid email profile",
            "sid": "1",
            **PERSON,
        },
    ),
    "Keycloak with the client as audience": (
        "JWT",
        {"typ": "Bearer", "aud": [CLIENT, "account"], "azp": CLIENT, "scope": "openid"},
    ),
    "Keycloak 25, lightweight": (
        "JWT",
        {"typ": "Bearer", "azp": CLIENT, "jti": "1", "scope": "openid", "sub": ...},
    ),
    "Zitadel": ("JWT", {"aud": [CLIENT, "storefront", "310"], "nbf": NOW, "jti": "V2_1"}),
    "Authentik": (
        "at+jwt",
        {
            "aud": CLIENT,
            "auth_time": NOW - 5,
            "acr": "goauthentik.io/providers/oauth2/default",
            "amr": ["pwd"],
            "azp": CLIENT,
            "nonce": "n",
            "uid": "random",
            "scope": "openid email",
            **PERSON,
        },
    ),
    "Authentik with a plain header": (
        "JWT",
        {"aud": CLIENT, "azp": CLIENT, "nonce": "n", "uid": "random", "scope": "openid email"},
    ),
    "Logto": ("at+jwt", {"aud": API, "client_id": CLIENT, "jti": "1", "scope": "openid"}),
    "Ory Hydra": (
        "JWT",
        {
            "aud": [],
            "client_id": CLIENT,
            "ext": {},
            "jti": "1",
            "nbf": NOW,
            "scp": ["openid", "offline"],
        },
    ),
}
ID: dict[str, tuple[str | None, dict[str, object]]] = {
    "Auth0": ("JWT", {"aud": CLIENT, "nonce": "n", "sid": "1", **PERSON}),
    "Okta": (
        None,
        {
            "ver": 1,
            "jti": "ID.1",
            "aud": CLIENT,
            "amr": ["pwd"],
            "idp": "00o1",
            "auth_time": NOW - 5,
            "at_hash": "h",
            **PERSON,
        },
    ),
    "Entra ID": (
        "JWT",
        {
            "aud": CLIENT,
            "nbf": NOW,
            "nonce": "n",
            "oid": "1",
            "preferred_username": "alice@sso.example",
            "tid": "1",
            "uti": "1",
            "ver": "2.0",
        },
    ),
    "Entra ID, of a refresh": ("JWT", {"aud": CLIENT, "nbf": NOW, "oid": "1", "ver": "2.0"}),
    "Cognito": (
        None,
        {
            "token_use": "id",
            "aud": CLIENT,
            "cognito:username": "alice",
            "event_id": "1",
            "auth_time": NOW - 5,
            "email_verified": "true",
        },
    ),
    "Keycloak": (
        "JWT",
        {
            "typ": "ID",
            "aud": CLIENT,
            "azp": CLIENT,
            "nonce": "n",
            "at_hash": "h",
            "sid": "1",
            **PERSON,
        },
    ),
    "Zitadel": (
        "JWT",
        {
            "aud": [CLIENT, "storefront", "310"],
            "azp": CLIENT,
            "amr": ["pwd"],
            "auth_time": NOW - 5,
            "at_hash": "h",
        },
    ),
    "Zitadel without a hash": (
        "JWT",
        {"aud": [CLIENT, "storefront", "310"], "azp": CLIENT, "amr": ["pwd"]},
    ),
    # Dex signs its access tokens as ID tokens, down to at_hash: nothing tells them apart.
    "Dex": (None, {"aud": CLIENT, "at_hash": "h", "c_hash": "c", "nonce": "n", **PERSON}),
    "Dex, access token": (None, {"aud": CLIENT, "at_hash": "h", "nonce": "n", **PERSON}),
    "Authentik": (
        "JWT",
        {"aud": CLIENT, "acr": "1", "amr": ["pwd"], "nonce": "n", "at_hash": "h", "sid": "1"},
    ),
    "Logto": ("JWT", {"aud": CLIENT, "at_hash": "h", "nonce": "n", **PERSON}),
    "Ory Hydra": (
        "JWT",
        {"aud": [CLIENT], "at_hash": "h", "auth_time": NOW, "rat": NOW, "jti": "1", "sid": "1"},
    ),
    "Google": (
        "JWT",
        {"aud": CLIENT, "azp": CLIENT, "at_hash": "h", "hd": "sso.example", **PERSON},
    ),
    "the least that OpenID Connect asks for": ("JWT", {"aud": CLIENT}),
    "with a nonce, for another client": ("JWT", {"aud": "another", "nonce": "n"}),
}


def token(typ: str | None, claims: dict[str, object]) -> SignedToken:
    present = {name: value for name, value in {**PLAIN, **claims}.items() if value is not ...}
    return SignedToken({} if typ is None else {"typ": typ}, present)


@cases("made_by", ACCESS)
def test_access_token_of_a_provider_is_none_of_its_id_tokens(made_by: str) -> None:
    signed = token(*ACCESS[made_by])
    assert not is_id_token(signed, OPEN)
    read_bearer_token(signed, OPEN, now=NOW, shop="latchkey")


@cases("made_by", ID)
def test_id_token_of_a_provider_is_no_access_token(made_by: str) -> None:
    signed = token(*ID[made_by])
    assert is_id_token(signed, OPEN)
    with pytest.raises(ProviderTokenRejected) as rejected:
        read_bearer_token(signed, OPEN, now=NOW, shop="latchkey")
    assert rejected.value.reason == "This is an ID token, not an access token."


def test_token_for_the_configured_audience_is_an_access_token_also_for_the_client() -> None:
    signed = token("JWT", {"aud": [CLIENT, API], "azp": CLIENT})
    assert not is_id_token(signed, FOR_API)
    assert is_id_token(signed, OPEN)


def test_id_token_is_one_also_where_the_audience_is_the_client_itself() -> None:
    itself = replace(OPEN, audience=CLIENT)
    assert is_id_token(token("JWT", {"aud": CLIENT}), itself)
    assert not is_id_token(token("JWT", {"aud": CLIENT, "scp": "access_as_user"}), itself)


@cases("hint", ["at_hash", "c_hash", "s_hash"])
def test_hash_makes_an_id_token_whatever_else_is_there(hint: str) -> None:
    claims: dict[str, object] = {"aud": API, "scope": "openid", "typ": "Bearer", hint: "h"}
    assert is_id_token(token("at+jwt", claims), FOR_API)
    assert not is_id_token(token("at+jwt", {**claims, hint: None}), FOR_API)
