"""``flask app link-client``: clients of identity providers that act as apps."""

import pytest

from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.providers import set_up
from tests.commands.shell import run, run_json
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.linked_clients import CLIENT_ID, SUBJECT
from tests.services.provider_bearers import who


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


def test_client_is_linked_listed_and_unlinked(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, audience=AUDIENCE)
    key, _ = make_app(ports, "Warehouse")
    named = ("--client-id", CLIENT_ID, "--subject", SUBJECT)
    made = run_json(ports, "app", "link-client", "Warehouse", *named)
    assert (made["provider"], made["clientId"], made["issuer"]) == (
        "default",
        CLIENT_ID,
        provider.url,
    )
    claims = provider.claims(SUBJECT, scope=..., azp=CLIENT_ID)
    token = provider.sign(claims, typ="at+jwt")
    assert who(ports, token).actor.app_id == key
    assert run_json(ports, "app", "clients", "Warehouse") == [made]
    assert run(ports, "app", "unlink-client", str(made["id"])).exit_code == 0
    assert who(ports, token).actor.fault is not None
    assert run_json(ports, "app", "clients", "Warehouse") == []
