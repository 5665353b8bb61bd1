"""The logout URL never carries a redirect that a browser reads as another host."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.single_sign_on.provider_sessions import log_out_external
from tests.builders.people import NOBODY
from tests.builders.providers import set_up
from tests.servers.own_provider import OwnProvider

PLUGIN = "latchkey.authentication.openidconnect"
EVIL = [
    "https:/\\evil.example",
    "https:\\/evil.example",
    "https:\\\\evil.example",
    "https:evil.example",
    "HTTPS:/evil.example",
    "https:///evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "ht\ntps://evil.example",
    "\x01https://evil.example",
    "\u00a0//evil.example",
    "https://localhost:3000@evil.example",
    "https://localhost:3000\\@evil.example",
    "http:localhost:3000@evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "other-app:/callback",
    '["https:/\\\\evil.example"]',
]
GOOD = [
    "http://localhost:3000/bye",
    "/bye",
    "bye?x=1",
    "user:123",
    "a/b//c",
    "1 < 2",
    "\u00fc & \u00f6",
]


pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _code(ports: Ports, name: str, value: str) -> str:
    """What the value is refused with, or nothing."""
    try:
        log_out_external(ports, NOBODY, plugin_id=PLUGIN, values={name: value})
    except Refused as refused:
        return refused.problems[0].code
    return ""


def test_logout_url_refuses_every_value_that_leads_to_another_host(
    ports: Ports, provider: OwnProvider
) -> None:
    names = (
        "returnTo",
        "post_logout_redirect_uri",
        "redirect_uri",
        "logout_uri",
        "RETURNTO",
        "Post_Logout_Redirect_Uri",
        "redirect.uri",
        "redirect_uri[]",
        " logout_uri",
    )
    passed = [value for value in EVIL for name in names if _code(ports, name, value) != "INVALID"]
    assert passed == []


def test_parameters_of_the_configured_logout_url_are_checked_too(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, oauth_logout_url=f"{provider.url}/logout?continue=%2Fbye&x=1")
    assert _code(ports, "Continue", "https://evil.example") == "INVALID"
    assert _code(ports, "continue", "http://localhost:3000/bye") == ""
    assert _code(ports, "another", "https://evil.example") == ""


def test_parameters_that_no_provider_redirects_to_are_copied(
    ports: Ports, provider: OwnProvider
) -> None:
    values = {
        "anything": "https://other.example/path?x=1",
        "logout_hint": "mailto:anna@example.com",
        "client_id": "https://client.example/metadata",
        "state": "javascript:alert(1)",
    }
    url = log_out_external(ports, NOBODY, plugin_id=PLUGIN, values=values)
    assert url is not None
    assert dict(parse_qsl(urlsplit(url).query)) == values


def test_logout_url_carries_other_values(ports: Ports, provider: OwnProvider) -> None:
    assert [value for value in GOOD if _code(ports, "returnTo", value)] == []
    url = log_out_external(ports, NOBODY, plugin_id=PLUGIN, values={"returnTo": "/bye"})
    assert url == f"{provider.url}/logout?returnTo=%2Fbye"
