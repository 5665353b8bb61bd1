"""Access tokens that tell nothing by themselves: the provider is asked whose they are."""

import pytest

from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.provider_token_verification import OPAQUE_SECONDS
from app.services.sign_in.sessions import deactivate_all_tokens
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL, calls, fault, who


def test_opaque_token_is_checked_again_after_a_minute(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    token = provider.known("an-opaque-token")
    assert who(ports, token).actor.name == EMAIL
    before = calls(ports)
    clock.pass_(seconds=OPAQUE_SECONDS - 1)
    assert fault(ports, token) is None
    assert calls(ports) == before

    clock.pass_(seconds=1)
    assert fault(ports, token) is None
    assert calls(ports) == before + 1

    provider.people.clear()
    clock.pass_(seconds=OPAQUE_SECONDS)
    assert who(ports, token).actor.is_user is False


@pytest.mark.both_databases
def test_signing_out_everywhere_ends_an_opaque_token_in_every_process(
    ports: Ports, second_process: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    token = provider.known("an-opaque-token")
    actor = who(ports, token).actor
    clock.pass_(seconds=5)
    deactivate_all_tokens(ports, actor)

    clock.pass_(seconds=OPAQUE_SECONDS)
    for process in (ports, second_process):
        assert fault(process, token) is TokenFault.INVALID
    assert fault(second_process, provider.known("a-later-token")) is None


@pytest.mark.parametrize(
    "settings", [{"audience": AUDIENCE}, {"use_oauth_scope_permissions": "true"}]
)
def test_opaque_token_has_no_audience_where_one_is_required(
    ports: Ports, provider: OwnProvider, settings: dict[str, str]
) -> None:
    set_up(ports, provider, **settings)
    assert fault(ports, provider.known("an-opaque-token")) is TokenFault.INVALID


def test_opaque_token_is_sent_to_the_default_provider_only(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    set_up(ports, other_provider, "other")
    assert who(ports, provider.known("an-opaque-token")).actor.is_user
    assert not who(ports, other_provider.known("anothers-token")).actor.is_user
    assert other_provider.server.calls("/userinfo") == []
