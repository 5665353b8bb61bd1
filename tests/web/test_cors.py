"""Which web pages may read an answer."""

from app.web.cors import cors_headers, preflight_headers

SHOP = "https://shop.example.com"


def test_every_origin_can_read_when_all_are_allowed() -> None:
    assert cors_headers(SHOP, ("*",)) == {"Access-Control-Allow-Origin": "*"}


def test_response_for_all_origins_has_no_vary() -> None:
    assert cors_headers(None, ("*",)) == cors_headers(SHOP, ("*",))


def test_allowed_origin_is_echoed_with_vary() -> None:
    assert cors_headers(SHOP, ("https://other.example.com", SHOP)) == {
        "Access-Control-Allow-Origin": SHOP,
        "Vary": "Origin",
    }


def test_other_origin_gets_only_vary() -> None:
    for origin in ("https://evil.example.com", "null", SHOP + ".evil.com", "", None):
        assert cors_headers(origin, (SHOP,)) == {"Vary": "Origin"}


def test_no_response_allows_credentials() -> None:
    for allowed in (("*",), (SHOP,), ()):
        headers = preflight_headers(SHOP, allowed, methods=("POST",))
        assert "Access-Control-Allow-Credentials" not in headers


def test_preflight_lists_methods_and_headers_for_an_allowed_origin() -> None:
    headers = preflight_headers(
        SHOP, (SHOP,), methods=("GET", "HEAD"), request_headers=("Authorization",)
    )
    assert headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert headers["Access-Control-Allow-Headers"] == "Authorization"
    assert headers["Access-Control-Max-Age"] == "600"
    assert headers["Access-Control-Allow-Origin"] == SHOP


def test_preflight_of_another_origin_has_no_cors_headers() -> None:
    headers = preflight_headers("https://evil.example.com", (SHOP,), methods=("GET",))
    assert headers == {"Vary": "Origin"}
