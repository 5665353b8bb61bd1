"""Our own tokens, signed by our key, with times that don't hold."""

from typing import Any

import pytest

from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.people import make_user, sign_in, visit
from tests.builders.tokens import altered
from tests.fakes.clock import FakeClock
from tests.graphql.shop_client import ApiClient
from tests.servers.own_provider import OwnProvider

ME = "{ me { email } }"
NO_TIMES: list[Any] = [True, False, "1772366400", None, 1772366400.5, [1], {}, 10**300, -(10**300)]


def token_fault(ports: Ports, credential: str) -> TokenFault | None:
    return identify(ports, visit(credential)).actor.fault


@pytest.mark.parametrize("claim", ["nbf", "iat"])
def test_token_is_refused_before_its_start(ports: Ports, clock: FakeClock, claim: str) -> None:
    token = sign_in(ports, make_user(ports)).access
    start = int(clock.timestamp()) + 61
    early = altered(ports, token, **{claim: start})

    assert ApiClient(ports).code(ME, early) == "ImmatureSignatureError"
    clock.pass_(seconds=1)
    assert ApiClient(ports).run(ME, early) == {"email": "customer@example.com"}


def test_token_with_a_time_of_a_wrong_type_is_invalid(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    found = {
        (claim, repr(moment)): token_fault(ports, altered(ports, token, **{claim: moment}))
        for claim in ("nbf", "iat", "exp")
        for moment in NO_TIMES
    }

    assert set(found.values()) == {TokenFault.INVALID}, found


def test_exp_has_no_leeway(ports: Ports, clock: FakeClock) -> None:
    token = sign_in(ports, make_user(ports)).access
    clock.pass_(seconds=ports.configuration.jwt_ttl_access - 1)
    assert token_fault(ports, token) is None
    clock.pass_(seconds=1)
    assert token_fault(ports, token) is TokenFault.EXPIRED


def test_cached_token_is_checked_against_the_clock(ports: Ports, clock: FakeClock) -> None:
    now = int(clock.timestamp())
    token = altered(ports, sign_in(ports, make_user(ports)).access, nbf=now, iat=now - 3600)
    assert token_fault(ports, token) is None

    clock.pass_(minutes=-2)
    assert token_fault(ports, token) is TokenFault.IMMATURE


def test_cached_provider_token_is_checked_against_the_clock(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    token = provider.access_token(nbf=int(clock.timestamp()))
    assert token_fault(ports, token) is None

    clock.pass_(minutes=-2)
    assert token_fault(ports, token) is TokenFault.IMMATURE
