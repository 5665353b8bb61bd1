"""What a provider says about a second factor counts where its settings say so."""

import pytest

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import ShopUpdate
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.shop.settings import update_shop
from app.services.sign_in.tokens import TokenPair
from app.services.single_sign_on.provider_sessions import refresh_external_session
from tests.builders.people import NOBODY, make_staff, sessions_of, visit
from tests.builders.providers import set_up
from tests.builders.second_factor_rule import require_second_factor
from tests.builders.tokens import claims_in
from tests.fixtures.cases import cases
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL, calls, who
from tests.services.provider_logins import CODE, PLUGIN, begin, finish

SETTINGS = Permission.MANAGE_SETTINGS
ACR = "urn:example:2fa"
PROVEN = cases(
    ("claims", "amr"),
    [
        ({"amr": ["pwd", "mfa"]}, ("pwd", "mfa")),
        ({"acr": ACR}, ("mfa",)),
        ({"amr": ["pwd"]}, ()),
        ({"acr": "1"}, ()),
        ({}, ()),
    ],
)


@pytest.fixture
def staff(ports: Ports, provider: OwnProvider) -> int:
    """A staff member whom the provider knows as alice; a second factor is required."""
    set_up(ports, provider, audience=AUDIENCE, second_factor_amr="mfa", second_factor_acr=ACR)
    user_id = make_staff(ports, EMAIL, SETTINGS)
    require_second_factor(ports)
    return user_id


def sign_in(ports: Ports, provider: OwnProvider, claims: dict[str, object]) -> TokenPair:
    parameters = begin(ports)
    id_token = provider.sign(provider.id_claims(parameters["nonce"], **claims))
    provider.grant(CODE, id_token=id_token, refresh_token="the first")
    return finish(ports, parameters["state"])


def caller(ports: Ports, token: str) -> Actor:
    return identify(ports, visit(token)).actor


@PROVEN
def test_id_token_gives_the_session_its_methods_and_refreshing_adds_none(
    ports: Ports,
    provider: OwnProvider,
    staff: int,
    claims: dict[str, object],
    amr: tuple[str, ...],
) -> None:
    before = len(sessions_of(ports, staff))
    tokens = sign_in(ports, provider, claims)

    actor = caller(ports, tokens.access)
    assert actor.user_id == staff
    assert actor.amr == amr
    assert actor.holds(SETTINGS) is bool(amr)
    assert tokens.user.is_staff is bool(amr)
    assert claims_in(ports, tokens.access).get("amr") == (list(amr) or None)

    id_claims = provider.id_claims("", amr=["mfa"], acr=ACR)
    del id_claims["nonce"]
    provider.grant("the first", id_token=provider.sign(id_claims), refresh_token="the second")
    refreshed = refresh_external_session(ports, NOBODY, plugin_id=PLUGIN, token=tokens.refresh)

    assert refreshed is not None
    assert caller(ports, refreshed.access).amr == amr
    assert caller(ports, refreshed.access).holds(SETTINGS) is bool(amr)
    assert refreshed.user.is_staff is bool(amr)
    assert claims_in(ports, refreshed.access).get("amr") == (list(amr) or None)
    assert [kept.amr for kept in sessions_of(ports, staff)[before:]] == [" ".join(amr)]


def test_claims_count_for_nothing_without_the_settings(
    ports: Ports, provider: OwnProvider, staff: int
) -> None:
    set_up(ports, provider, second_factor_amr=None, second_factor_acr=None)
    tokens = sign_in(ports, provider, {"amr": ["mfa"], "acr": ACR})
    assert caller(ports, tokens.access).amr == ()
    assert not caller(ports, provider.access_token(amr=["mfa"], acr=ACR)).holds(SETTINGS)


@PROVEN
def test_providers_own_token_has_its_methods_at_every_request(
    ports: Ports,
    provider: OwnProvider,
    staff: int,
    claims: dict[str, object],
    amr: tuple[str, ...],
) -> None:
    token = provider.access_token(**claims)
    first = caller(ports, token)
    asked = calls(ports)
    for actor in (first, caller(ports, token)):
        assert actor.user_id == staff
        assert actor.amr == amr
        assert actor.holds(SETTINGS) is bool(amr)
    assert calls(ports) == asked

    if amr:
        assert update_shop(ports, first, ShopUpdate(name="New")).name == "New"
    else:
        with pytest.raises(PermissionDenied):
            update_shop(ports, first, ShopUpdate(name="New"))


def test_change_of_the_settings_applies_to_tokens_seen_before(
    ports: Ports, provider: OwnProvider, staff: int
) -> None:
    token = provider.access_token(amr=["mfa"])
    assert caller(ports, token).holds(SETTINGS)
    set_up(ports, provider, audience=AUDIENCE, second_factor_amr="hwk")
    assert not caller(ports, token).holds(SETTINGS)


def test_opaque_token_says_nothing_about_a_second_factor(
    ports: Ports, provider: OwnProvider, staff: int
) -> None:
    set_up(ports, provider, audience=None)
    token = provider.known("opaque-token-of-alice", amr=["mfa"], acr=ACR)
    actor = who(ports, token).actor
    assert actor.user_id == staff
    assert (actor.amr, actor.is_staff) == ((), False)
