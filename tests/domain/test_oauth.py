"""Redirect URIs and scopes of OAuth clients."""

from datetime import UTC, datetime

from app.domain.authorization.permissions import Permission
from app.domain.oauth import (
    OAuthClient,
    key_set_problem,
    read_scopes,
    redirect_origin,
    redirect_uri_problem,
    write_scopes,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ALLOWED = (
    "https://shop.example.com/callback",
    "https://shop.example.com/callback?tenant=1",
    "http://127.0.0.1/callback",
    "http://[::1]:8400/callback",
    "http://localhost:3000/callback",
    "com.example.shop:/callback",
)
REFUSED = (
    "",
    "/callback",
    "http://shop.example.com/callback",
    "https://shop.example.com/callback#part",
    "https://*.example.com/callback",
    "https://user@shop.example.com/callback",
    "https:/\\shop.example.com/callback",
    "https://shop.example.com/call back",
    "javascript:alert(1)",
    "data:text/html,x",
    "myapp:/callback",
    "com.example.shop://host/callback",
    "com.example.shop:",
)


def client(*uris: str) -> OAuthClient:
    return OAuthClient(1, "id", "Forum", NOW, redirect_uris=uris)


def test_redirect_uris_that_programs_read_alike_can_be_registered() -> None:
    for uri in ALLOWED:
        assert redirect_uri_problem(uri) is None, uri
    for uri in REFUSED:
        assert redirect_uri_problem(uri) is not None, uri


def test_redirect_uri_is_compared_by_character() -> None:
    own = "https://shop.example.com/callback"
    assert client(own).allows_redirect(own)
    for other in (
        "https://shop.example.com/callback/",
        "https://shop.example.com/callback?x=1",
        "https://shop.example.com/callback#x",
        "https://shop.example.com:443/callback",
        "https://SHOP.example.com/callback",
        "https://shop.example.com./callback",
        "https://shop.example.com@evil.example/callback",
        "https://shop.example.com.evil.example/callback",
        "https://shop.example.com/x/../callback",
        "https://shop.example.com/%63allback",
        "http://shop.example.com/callback",
    ):
        assert not client(own).allows_redirect(other), other


def test_only_programs_at_loopback_addresses_choose_their_port() -> None:
    native = client("http://127.0.0.1/callback", "http://[::1]:1/callback")
    for uri in (
        "http://127.0.0.1:51000/callback",
        "http://127.0.0.1/callback",
        "http://[::1]:51000/callback",
    ):
        assert native.allows_redirect(uri), uri
    for uri in (
        "http://127.0.0.1:51000/other",
        "http://127.0.0.1:51000/callback?x=1",
        "http://127.0.0.2:51000/callback",
        "http://localhost:51000/callback",
        "https://127.0.0.1:51000/callback",
        "http://2130706433:51000/callback",
        "http://127.0.0.1:51000@evil.example/callback",
    ):
        assert not native.allows_redirect(uri), uri
    assert not client("http://localhost/callback").allows_redirect("http://localhost:5/callback")
    assert not client("https://127.0.0.1/cb").allows_redirect("https://127.0.0.1:5/cb")


def test_scopes_name_permissions_with_the_word_of_the_shop() -> None:
    words = frozenset(("openid", "staff", Permission.MANAGE_ORDERS.value))
    assert read_scopes("openid staff acme:manage_orders", "acme") == words
    assert write_scopes(words, "acme") == "openid staff acme:manage_orders"
    assert read_scopes("other:manage_orders", "acme") is None
    assert read_scopes("MANAGE_ORDERS", "acme") is None


def test_key_set_holds_public_keys_alone() -> None:
    assert key_set_problem('{"keys": [{"kty": "EC", "crv": "P-256", "x": "x", "y": "y"}]}') is None
    for text in (
        "{}",
        "no JSON",
        '{"keys": []}',
        '{"keys": ["x"]}',
        '{"keys": [{"kty": "oct", "k": "secret"}]}',
        '{"keys": [{"kty": "EC", "d": "private"}]}',
    ):
        assert key_set_problem(text) is not None, text


def test_origin_of_a_redirect_uri_is_a_source_for_form_action() -> None:
    assert redirect_origin("https://shop.example.com/cb?x=1") == "https://shop.example.com"
    assert redirect_origin("http://127.0.0.1:5100/cb") == "http://127.0.0.1:5100"
    assert redirect_origin("com.example.shop:/cb") == "com.example.shop:"
