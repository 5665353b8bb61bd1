"""Who sent a request, as its headers say."""

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from app.composition.settings import Settings
from app.composition.wiring import connect, make_installation
from app.web.caller import credential_in, visitor_from
from app.web.installation import Installation
from tests.fakes.activity import FakeActivity
from tests.fixtures.cases import cases


def environ(**more: str) -> dict[str, Any]:
    """A request to http://localhost:8000 from 203.0.113.7."""
    return {
        "wsgi.url_scheme": "http",
        "HTTP_HOST": "localhost:8000",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "REMOTE_ADDR": "203.0.113.7",
        **more,
    }


@pytest.fixture
def installation() -> Installation:
    ports = connect(Settings(database_url="sqlite://"))
    return make_installation(replace(ports, activity=FakeActivity()), Settings())


@cases(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("BEARER abc", "abc"),
        ("JWT abc", "abc"),
        ("jwt abc", "abc"),
        ("  Bearer   abc  ", "abc"),
        ("Bearer\tabc", "abc"),
        ("Bearer abc def", "abc def"),
        ("Bearer", None),
        ("Bearer ", None),
        ("Bearerabc", None),
        ("abc", None),
        ("Basic abc", None),
        ("Token abc", None),
        ("Bearer, abc", None),
        ("", None),
        (" ", None),
    ],
)
def test_authorization_holds_a_token_under_two_schemes(header: str, token: str | None) -> None:
    assert credential_in(environ(HTTP_AUTHORIZATION=header)) == token


def test_without_a_header_there_is_no_credential() -> None:
    assert credential_in(environ()) is None


@cases(("bare", "token"), [("abc", "abc"), (" abc ", "abc"), ("", "other"), ("  ", "other")])
def test_authorization_bearer_wins_unless_it_is_empty(bare: str, token: str) -> None:
    both = environ(HTTP_AUTHORIZATION_BEARER=bare, HTTP_AUTHORIZATION="Bearer other")
    assert credential_in(both) == token


def test_authorization_bearer_has_the_token_without_a_scheme() -> None:
    assert credential_in(environ(HTTP_AUTHORIZATION_BEARER="Bearer abc")) == "Bearer abc"


@cases(
    ("more", "issuer"),
    [
        ({}, "http://localhost:8000/graphql/"),
        ({"wsgi.url_scheme": "https", "HTTP_HOST": "a.b"}, "https://a.b/graphql/"),
        ({"HTTP_HOST": "[::1]:8000"}, "http://[::1]:8000/graphql/"),
    ],
)
def test_in_development_the_issuer_follows_the_request(
    installation: Installation, more: dict[str, str], issuer: str
) -> None:
    assert visitor_from(environ(**more), installation).issuer == issuer


@cases(
    ("scheme", "port", "issuer"),
    [
        ("http", "8000", "http://127.0.0.1:8000/graphql/"),
        ("http", "80", "http://127.0.0.1/graphql/"),
        ("https", "443", "https://127.0.0.1/graphql/"),
    ],
)
def test_missing_host_header_falls_back_to_server_name(
    installation: Installation, scheme: str, port: str, issuer: str
) -> None:
    request = environ(**{"wsgi.url_scheme": scheme}, SERVER_PORT=port)
    del request["HTTP_HOST"]
    assert visitor_from(request, installation).issuer == issuer


def test_public_url_is_the_issuer_for_any_request() -> None:
    ports = connect(Settings(database_url="sqlite://", public_url="https://shop.example.com"))
    visitor = visitor_from(environ(HTTP_HOST="evil.example"), make_installation(ports, Settings()))
    assert visitor.issuer == "https://shop.example.com/graphql/"


def test_ip_address_is_forwarded_by_trusted_proxies_only(installation: Installation) -> None:
    forwarded = environ(HTTP_X_FORWARDED_FOR="198.51.100.1")
    assert visitor_from(forwarded, installation).address == "203.0.113.7"
    trusting = replace(installation, trusted_proxies=(ip_network("203.0.113.0/24"),))
    assert visitor_from(forwarded, trusting).address == "198.51.100.1"


def test_unknown_client_address_is_none(installation: Installation) -> None:
    assert visitor_from(environ(REMOTE_ADDR=""), installation).address is None


def test_user_agent_is_cut_to_what_is_stored(installation: Installation) -> None:
    visitor = visitor_from(environ(HTTP_USER_AGENT="x" * 1000), installation)
    assert visitor.user_agent == "x" * 256
    assert visitor_from(environ(), installation).user_agent == ""


@cases(
    ("headers", "seen"),
    [
        ({"HTTP_X_FORWARDED_FOR": "198.51.100.1"}, {"203.0.113.7": 1}),
        ({"HTTP_X_FORWARDED_FOR": "198.51.100.1", "REMOTE_ADDR": ""}, {"unknown": 1}),
        ({"HTTP_X_FORWARDED_FOR": " "}, {}),
        ({}, {}),
        ({"HTTP_X_FORWARDED_FOR": "198.51.100.1", "REMOTE_ADDR": "10.0.0.1"}, {}),
    ],
)
def test_untrusted_proxy_is_recorded(
    installation: Installation, headers: dict[str, str], seen: dict[str, int]
) -> None:
    trusting = replace(installation, trusted_proxies=(ip_network("10.0.0.0/8"),))
    visitor_from(environ(**headers), trusting)
    activity = installation.ports.activity
    assert isinstance(activity, FakeActivity)
    assert activity.forwarding == seen
    activity.forwarding.clear()
