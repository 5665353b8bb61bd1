"""Settings that wait for confirmation get no codes, tokens and secrets that are worth anything."""

from collections.abc import Iterator

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports
from app.services.identity.providers import known_providers
from app.services.single_sign_on.provider_settings import (
    ProviderUpdate,
    confirm_provider,
    save_provider,
)
from tests.builders.people import actor_of, make_staff, make_user
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import OwnProvider, own_provider
from tests.services.provider_bearers import fault, who
from tests.services.provider_logins import CODE, begin, finish, grant, sign_in

OTHER = "other.authentication.openidconnect"
BOSS = "boss@sso.example"


@pytest.fixture
def attacker(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "mallory@example.com", Permission.MANAGE_PLUGINS))


@pytest.fixture
def server(ports: Ports, clock: FakeClock) -> Iterator[OwnProvider]:
    """The attacker's own provider."""
    with own_provider(clock) as running:
        yield running


@pytest.fixture
def boss(ports: Ports) -> int:
    return make_user(ports, BOSS, is_staff=True, is_superuser=True)


def change(ports: Ports, actor: Actor, **settings: str | None) -> None:
    save_provider(ports, actor, "default", ProviderUpdate(settings))


def refuses_code(ports: Ports) -> bool:
    try:
        finish(ports, begin(ports)["state"])
    except Refused:
        return True
    return False


def test_second_provider_gets_no_code_of_the_first(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    """Its login page could lead people on to the first one's, which sends them back with a code.

    With that code the attacker would finish a sign-in that they began at the first one (a mix-up,
    RFC 9700, 4.4).
    """
    changes = ProviderUpdate(server.settings, active=True)
    save_provider(ports, attacker, "other", changes)
    lured = begin(ports, OTHER)

    with pytest.raises(Refused, match="isn't confirmed"):
        finish(ports, lured["state"], CODE, OTHER)

    assert server.server.calls("/token") == []
    assert who(ports, sign_in(ports, provider, "boss").access).actor.user_id == boss
    second = known_providers(ports)[1]
    confirm_provider(ports, OPERATOR, "other", second.trust_version)
    parameters = begin(ports, OTHER)
    grant(server, parameters, "carol")
    assert finish(ports, parameters["state"], CODE, OTHER).user.email == "carol@sso.example"


def test_only_provider_of_a_shop_can_be_tried_before_it_is_confirmed(
    ports: Ports, server: OwnProvider, attacker: Actor
) -> None:
    save_provider(ports, attacker, "default", ProviderUpdate(server.settings, active=True))
    assert sign_in(ports, server, "carol").user.is_staff is False


@pytest.mark.parametrize("adds_secret", ["before", "along", ""])
def test_code_of_a_client_without_a_secret_goes_to_no_url_that_waits(
    ports: Ports, server: OwnProvider, attacker: Actor, clock: FakeClock, adds_secret: str
) -> None:
    """Anyone can redeem it, and refresh the tokens after the URL is changed back."""
    with own_provider(clock) as first:
        set_up(ports, first, client_secret=None)
        if adds_secret == "before":
            change(ports, attacker, client_secret="mine")
        url = {"oauth_token_url": server.settings["oauth_token_url"]}
        secret = {"client_secret": "mine"} if adds_secret == "along" else {}
        change(ports, attacker, **url, **secret)
        with pytest.raises(Refused, match="isn't confirmed"):
            finish(ports, begin(ports)["state"])
    assert server.server.calls("/token") == []


def test_secret_goes_only_to_the_token_url_of_who_set_it(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor
) -> None:
    colleague = actor_of(ports, make_staff(ports, "carl@example.com", Permission.MANAGE_PLUGINS))
    urls = {name: value for name, value in server.settings.items() if name.endswith("_url")}
    change(ports, attacker, issuer=server.url, **urls)
    change(ports, attacker, client_secret="mine")
    change(ports, colleague, client_secret="the shop's new secret")
    assert refuses_code(ports)
    (call,) = server.server.calls("/token")
    assert "authorization" not in call.headers
    change(ports, attacker, client_secret="mine again")
    assert refuses_code(ports), "it is another secret than the server's"
    assert "authorization" in server.server.calls("/token")[1].headers


def test_token_of_a_known_person_goes_to_no_user_info_that_waits(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    """The token endpoint is still the provider's: it issues tokens that are worth something."""
    sign_in(ports, provider, "boss")
    change(ports, attacker, user_info_url=server.settings["user_info_url"])
    parameters = begin(ports)
    claims = provider.id_claims(parameters["nonce"], "boss")
    claims.pop("email_verified", None)
    grant(provider, parameters, "boss", id_token=provider.sign(claims))
    with pytest.raises(Refused, match="isn't confirmed"):
        finish(ports, parameters["state"])
    assert server.server.calls("/userinfo") == []


def test_opaque_token_from_before_a_correction_is_refused(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, clock: FakeClock
) -> None:
    """A user info URL that waited may have kept it; it doesn't tell when it was issued."""
    make_user(ports, "late@sso.example", is_confirmed=True)
    change(ports, attacker, user_info_url=server.settings["user_info_url"])
    change(ports, attacker, user_info_url=provider.settings["user_info_url"])
    clock.pass_(seconds=60)
    provider.people["opaque"] = provider.person("late")
    assert fault(ports, "opaque") is TokenFault.INVALID
    clock.pass_(hours=24)
    provider.people["another"] = provider.person("late")
    assert who(ports, "another").actor.is_user
