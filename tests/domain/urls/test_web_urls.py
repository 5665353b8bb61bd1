"""Addresses of the web mean one thing to everybody who reads them."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.urls.web_urls import (
    host_and_port_of,
    is_path,
    is_same_origin,
    is_web_url,
    origin_of,
    url_below,
)
from tests.fixtures.cases import cases

APP = "https://app.example/shop/start"


@cases(
    "text",
    [
        "https://app.example",
        "http://localhost:3000/api/register?x=1#top",
        "https://[2001:db8::1]:8443/",
        "HTTPS://APP.example/",
    ],
)
def test_absolute_http_urls_are_accepted(text: str) -> None:
    assert is_web_url(text)
    assert not is_path(text)


@cases("text", ["/", "/edit", "/edit?x=//y", "/a:b", "/javascript:alert(1)"])
def test_path_is_not_a_web_url(text: str) -> None:
    assert is_path(text)
    assert not is_web_url(text)


@cases("text", ["", "edit", "//host/", "/\\host/", "/a b", "/\n", "\t//host"])
def test_texts_that_browsers_read_differently_are_refused(text: str) -> None:
    assert not is_path(text)
    assert not is_web_url(text)


@cases(
    ("path", "address"),
    [
        ("/edit", "https://app.example/shop/edit"),
        ("/", "https://app.example/shop/"),
        ("/javascript:alert(1)", "https://app.example/shop/javascript:alert(1)"),
        ("/https://elsewhere.example/", "https://app.example/shop/https://elsewhere.example/"),
        ("/edit?x=1", "https://app.example/shop/edit?x=1"),
    ],
)
def test_path_is_relative_to_the_folder_of_the_url(path: str, address: str) -> None:
    assert url_below(APP, path) == address


@given(st.text(max_size=40))
def test_path_never_leads_to_another_origin(text: str) -> None:
    if is_path(f"/{text}"):
        assert is_same_origin(url_below(APP, f"/{text}"), APP)


def test_origin_is_scheme_host_and_port() -> None:
    assert origin_of("https://App.example./x") == ("https", "app.example", 443)
    assert origin_of("http://app.example:8080") == ("http", "app.example", 8080)
    assert not is_same_origin("http://app.example", "https://app.example")


def test_port_is_shown_where_it_is_written() -> None:
    assert host_and_port_of("https://shop.example/graphql/") == "shop.example"
    assert host_and_port_of("http://localhost:8000/graphql/") == "localhost:8000"
