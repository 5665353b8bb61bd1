"""The logout URL never carries a value that a browser reads as another host."""

import pytest

from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.single_sign_on.provider_sessions import log_out_external
from tests.builders.people import NOBODY
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
    names = ("returnTo", "post_logout_redirect_uri", "anything")
    passed = [value for value in EVIL for name in names if _code(ports, name, value) != "INVALID"]
    assert passed == []


def test_logout_url_carries_other_values(ports: Ports, provider: OwnProvider) -> None:
    assert [value for value in GOOD if _code(ports, "returnTo", value)] == []
    url = log_out_external(ports, NOBODY, plugin_id=PLUGIN, values={"returnTo": "/bye"})
    assert url == f"{provider.url}/logout?returnTo=%2Fbye"
