"""The address of an API, as people type it."""

import pytest

from app.domain.urls.web_urls import is_unencrypted, key_set_url, parse_api_url
from tests.fixtures.cases import cases

API = "https://shop.example.com/graphql/"


@cases(
    ("typed", "meant"),
    [
        (API, API),
        (" https://shop.example.com ", API),
        ("https://shop.example.com/", API),
        ("https://shop.example.com/graphql", API),
        ("HTTPS://Shop.Example.Com", API),
        ("http://localhost:8000", "http://localhost:8000/graphql/"),
        ("http://[::1]:8000/graphql/", "http://[::1]:8000/graphql/"),
        ("https://example.com/shop/api", "https://example.com/shop/api"),
    ],
)
def test_host_without_a_path_is_its_api_url(typed: str, meant: str) -> None:
    assert parse_api_url(typed) == meant


@cases(
    ("typed", "reason"),
    [
        ("shop.example.com", "must start with https://"),
        ("localhost:8000", "must start with https://"),
        ("ftp://shop.example.com/graphql/", "must start with https://"),
        ("", "must start with https://"),
        ("https://", "is not a valid URL"),
        ("https:///graphql/", "is not a valid URL"),
        ("https://shop example.com/", "is not a valid URL"),
        ("https://shop.example.com\\graphql/", "is not a valid URL"),
        ("https://shop.example.com:port/", "is not a valid URL"),
        ("https://[::1/", "is not a valid URL"),
        ("https://ann:geheim@shop.example.com/", "must not contain a user"),
        ("https://shop.example.com/graphql/?token=x", "a query or a fragment"),
        ("https://shop.example.com/#top", "a query or a fragment"),
        (f"https://shop.example.com/{'x' * 3000}", "longer than 2048 characters"),
    ],
)
def test_invalid_api_url_is_refused_with_the_reason(typed: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_api_url(typed)


def test_key_set_is_at_the_hosts_root() -> None:
    expected = "https://shop.example.com/.well-known/jwks.json"
    assert key_set_url(API) == expected


@cases(
    ("url", "overheard"),
    [
        ("http://shop.example.com/graphql/", True),
        ("http://192.168.0.7:8000/graphql/", True),
        ("https://shop.example.com/graphql/", False),
        ("http://localhost:8000/graphql/", False),
        ("http://127.0.0.1:8000/graphql/", False),
        ("http://[::1]:8000/graphql/", False),
    ],
)
def test_http_url_is_unencrypted_unless_loopback(url: str, overheard: bool) -> None:
    assert is_unencrypted(url) is overheard
