"""Which web pages may read an answer."""

from app.web.headers import cors_headers, preflight_headers

SHOP = "https://shop.example.com"


def test_every_origin_can_read_when_all_are_allowed() -> None:
    assert cors_headers(SHOP, ("*",)) == {"Access-Control-Allow-Origin": "*"}


def test_response_for_all_origins_has_no_vary() -> None:
    assert cors_headers(None, ("*",)) == cors_headers(SHOP, ("*",))


def test_allowed_origin_is_echoed_with_vary() -> None:
    assert cors_headers(SHOP, ("https://other.example.com", SHOP)) == {
        "Access-Control-Allow-Origin": SHOP,
        "Access-Control-Allow-Credentials": "true",
        "Vary": "Origin",
    }


def test_origin_listed_by_name_beside_all_is_echoed() -> None:
    allowed = ("*", SHOP)
    assert cors_headers(SHOP, allowed)["Access-Control-Allow-Origin"] == SHOP
    assert cors_headers("https://other.example.com", allowed) == {
        "Access-Control-Allow-Origin": "*",
        "Vary": "Origin",
    }


def test_other_origin_gets_only_vary() -> None:
    for origin in ("https://evil.example.com", "null", SHOP + ".evil.com", "", None):
        assert cors_headers(origin, (SHOP,)) == {"Vary": "Origin"}


def test_credentials_are_allowed_to_origins_listed_by_name_alone() -> None:
    credentials = "Access-Control-Allow-Credentials"
    assert preflight_headers(SHOP, (SHOP,), methods=("POST",))[credentials] == "true"
    for origin, allowed in (
        (SHOP, ("*",)),
        (SHOP, ()),
        ("https://evil.example.com", (SHOP,)),
        ("https://evil.example.com", ("*", SHOP)),
        ("*", ("*",)),
        ("null", ("*",)),
    ):
        assert credentials not in preflight_headers(origin, allowed, methods=("POST",))


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
