"""A provider's access token for another client of it gives no staff rights here."""

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.people import make_staff, visit
from tests.builders.providers import set_up
from tests.servers.own_provider import AUDIENCE, CLIENT, OwnProvider
from tests.services.provider_bearers import EMAIL, fault, who
from tests.services.provider_logins import sign_in

ORDERS = Permission.MANAGE_ORDERS


@pytest.fixture
def staff(ports: Ports) -> int:
    return make_staff(ports, EMAIL, ORDERS)


def rights(ports: Ports, token: str) -> tuple[bool, bool]:
    """Whether the token's person is signed in, and is staff with their permission."""
    actor = who(ports, token).actor
    return actor.is_user, actor.is_staff and actor.holds(ORDERS)


@pytest.mark.usefixtures("staff")
def test_without_clients_and_audience_tokens_give_no_staff_rights(
    ports: Ports, provider: OwnProvider
) -> None:
    assert rights(ports, provider.access_token(azp="a wiki")) == (True, False)
    assert rights(ports, provider.known("an opaque token")) == (True, False)
    assert rights(ports, provider.access_token("bob")) == (True, False), "a customer as before"
    by_code = identify(ports, visit(sign_in(ports, provider).access)).actor
    assert by_code.holds(ORDERS), "the ID token names this client"


def test_unknown_client_makes_no_one_staff(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, staff_user_domains="sso.example")
    assert not who(ports, provider.access_token(azp="a wiki")).actor.is_staff
    set_up(ports, provider, accepted_clients="app")
    assert who(ports, provider.access_token(azp="app")).actor.is_staff


@pytest.mark.usefixtures("staff")
def test_listed_clients_and_the_own_one_are_accepted(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, accepted_clients="storefront, backoffice")
    for claim in ("azp", "client_id", "cid", "appid"):
        for client in (CLIENT, "storefront", "backoffice"):
            token = provider.access_token(**{claim: client})
            assert rights(ports, token) == (True, True), (claim, client)


OTHERS: list[dict[str, object]] = [
    {},
    {"azp": "wiki"},
    {"azp": ""},
    {"azp": ["storefront"]},
    {"azp": "storefront", "client_id": "wiki"},
    {"aud": ["storefront", CLIENT]},
]


@pytest.mark.usefixtures("staff")
def test_other_clients_are_refused_where_clients_are_listed(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, accepted_clients="storefront backoffice")
    for claims in OTHERS:
        assert fault(ports, provider.access_token(**claims)) is TokenFault.INVALID, claims
    assert fault(ports, provider.known("an opaque token")) is TokenFault.INVALID


@pytest.mark.usefixtures("staff")
def test_audience_is_enough_and_a_kept_provider_keeps_its_rights(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, audience=AUDIENCE)
    assert rights(ports, provider.access_token(azp="a wiki")) == (True, True)
    set_up(ports, provider, audience=None)
    assert rights(ports, provider.access_token(azp="a wiki")) == (True, False)
    with ports.database.transaction() as session:
        session.execute(update(models.IdentityProvider).values(serves_staff_of_any_client=True))
        session.execute(update(models.Shop).values(providers_version=99))
    assert rights(ports, provider.access_token(azp="a wiki")) == (True, True)
    assert rights(ports, provider.known("an opaque token")) == (True, True)
    set_up(ports, provider, accepted_clients="app")
    set_up(ports, provider, accepted_clients=None)
    assert rights(ports, provider.access_token(azp="a wiki")) == (True, False), "not again"
