"""A real identity provider changes its keys; nothing here is restarted for it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.provider_calls import COOL_DOWN
from app.services.single_sign_on.provider_checks import discover_provider
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from app.services.single_sign_on.sign_in import begin_sign_in
from tests.builders.people import NOBODY
from tests.fakes.offset_clock import Ahead
from tests.fixtures.ports import fake_ports
from tests.servers.provider import CALLBACK, RESOURCE, IdentityProvider, Visitor, identity_provider
from tests.services.provider_bearers import fault
from tests.services.provider_logins import PLUGIN, finish

pytestmark = pytest.mark.xdist_group("provider")


@pytest.fixture
def ahead() -> Ahead:
    return Ahead()


@pytest.fixture
def ports(sqlite_url: str, ahead: Ahead) -> Ports:
    return fake_ports(sqlite_url, ahead)


@pytest.fixture
def real_provider(ports: Ports, tmp_path: Path) -> Iterator[IdentityProvider]:
    """A provider that issues signed access tokens, set up as an operator does it."""
    with identity_provider(tmp_path / "provider.log", ports.configuration.scope_prefix) as running:
        discover_provider(ports, OPERATOR, "default", running.issuer)
        settings = {
            "client_id": "api",
            "client_secret": running.secret_of("api"),
            "audience": RESOURCE,
            "user_info_url": running.user_info_url,
        }
        save_provider(ports, OPERATOR, "default", ProviderUpdate(settings, active=True))
        yield running


def token(provider: IdentityProvider) -> str:
    return provider.token_for("api", Visitor(), "ann", "openid profile email")


def sign_in(ports: Ports) -> str:
    """Through the provider's login, whose ID token is verified by its keys; who came in."""
    url = begin_sign_in(ports, NOBODY, plugin_id=PLUGIN, redirect_uri=CALLBACK)
    assert url is not None
    assert urlsplit(url).path == "/auth"
    back = Visitor().sign_in(url, "ann")
    return finish(ports, back["state"], back["code"]).user.email


@pytest.mark.thorough
def test_provider_key_rollover_is_followed(
    ports: Ports, ahead: Ahead, real_provider: IdentityProvider
) -> None:
    """In make test, ``identity/test_provider_outages.py`` shows it with a provider in process."""
    seen, unseen, by_old_key = (token(real_provider) for _ in range(3))
    assert fault(ports, seen) is None

    real_provider.rotate()
    by_new_key = token(real_provider)
    assert fault(ports, by_new_key) is TokenFault.SIGNATURE, "the set has been fetched just now"
    ahead.seconds += COOL_DOWN
    assert fault(ports, by_new_key) is None
    assert fault(ports, by_old_key) is None
    assert sign_in(ports) == "ann@sso.example"

    real_provider.rotate(forget=True)
    ahead.seconds += COOL_DOWN
    assert fault(ports, token(real_provider)) is None
    assert sign_in(ports) == "ann@sso.example"
    assert fault(ports, unseen) is TokenFault.SIGNATURE
    assert fault(ports, seen) is None, "a token that was good stays good until it expires"
