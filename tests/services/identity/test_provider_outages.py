"""A provider that is down, slow, or has new keys keeps nobody else waiting."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

import pytest

from app.adapters.http.identity_provider import OpenIdProvider
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.provider_calls import COOL_DOWN, FAILED_PAUSE
from app.services.sign_in.password_login import create_token
from tests.builders.apps import make_app
from tests.builders.people import NOBODY, PASSWORD, make_user
from tests.fakes.clock import FakeClock
from tests.servers.http import Received, Reply
from tests.servers.own_provider import OwnProvider, public_jwk, rsa_key
from tests.servers.sandbox import PATIENCE
from tests.services.installation_helpers import WithTimeout
from tests.services.provider_bearers import calls, fault, who

AT_ONCE = 6


def rolled_over(provider: OwnProvider, kid: str, place: int) -> str:
    """A token by a key that is new in the provider's set."""
    provider.keys.append(public_jwk(rsa_key(place), kid=kid, alg="RS256"))
    token = provider.sign(provider.claims(jti=kid), rsa_key(place), "RS256", kid=kid)
    return provider.known(token)


def test_new_key_of_the_provider_is_fetched_when_a_token_names_it(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    assert fault(ports, provider.access_token()) is None
    clock.pass_(seconds=COOL_DOWN)
    assert fault(ports, rolled_over(provider, "key-2", 1)) is None
    assert fault(ports, provider.access_token(jti="by the old key")) is None
    assert len(provider.server.calls("/keys")) == 2


def test_unknown_keys_cause_one_fetch_per_cool_down(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    assert fault(ports, provider.access_token()) is None
    clock.pass_(seconds=COOL_DOWN)
    for number in range(20):
        token = provider.sign(provider.claims(), rsa_key(1), "RS256", kid=f"unknown-{number}")
        assert fault(ports, token) is TokenFault.SIGNATURE
    assert len(provider.server.calls("/keys")) == 2
    assert fault(ports, rolled_over(provider, "key-2", 1)) is TokenFault.SIGNATURE
    clock.pass_(seconds=COOL_DOWN)
    assert fault(ports, rolled_over(provider, "key-3", 2)) is None
    assert len(provider.server.calls("/keys")) == 3


def test_removed_provider_key_stops_verifying_after_a_while(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    assert fault(ports, provider.access_token()) is None
    provider.keys[:] = [public_jwk(rsa_key(1), kid="key-2")]
    clock.pass_(minutes=10)
    assert fault(ports, provider.access_token(jti="later")) is TokenFault.SIGNATURE


def test_token_that_was_good_stays_good_without_its_key(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    seen = provider.access_token()
    assert fault(ports, seen) is None
    provider.keys.clear()
    clock.pass_(seconds=COOL_DOWN)
    assert fault(ports, rolled_over(provider, "key-2", 1)) is None
    assert fault(ports, provider.access_token(jti="later")) is TokenFault.SIGNATURE
    assert fault(ports, seen) is None


def test_cached_keys_verify_while_the_provider_is_down(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    assert fault(ports, provider.access_token()) is None
    provider.server.answer("/keys", Reply(503))
    clock.pass_(hours=1)
    assert fault(ports, provider.access_token(jti="later")) is None
    clock.pass_(hours=24)
    assert fault(ports, provider.access_token(jti="a day later")) is TokenFault.PROVIDER


def test_token_without_a_usable_response_is_not_sent_again_for_seconds(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    token = provider.access_token()
    works = provider.server.routes["/userinfo"]
    provider.server.answer("/userinfo", Reply(503))
    for _ in range(5):
        assert fault(ports, token) is TokenFault.PROVIDER
    assert len(provider.server.calls("/userinfo")) == 1

    provider.server.routes["/userinfo"] = works
    clock.pass_(seconds=FAILED_PAUSE)
    assert fault(ports, token) is None


def test_refused_token_is_not_sent_again_immediately(ports: Ports, provider: OwnProvider) -> None:
    for _ in range(5):
        assert not who(ports, "some-garbage").actor.is_user
    assert len(provider.server.calls("/userinfo")) == 1


def test_cached_token_stays_valid_while_the_provider_is_down(
    ports: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    assert fault(ports, token) is None
    provider.server.routes.clear()
    assert fault(ports, token) is None


@contextmanager
def hanging(provider: OwnProvider) -> Iterator[None]:
    """User-info takes its time, until the end of the block."""
    go_on = threading.Event()

    def wait(_received: Received) -> Reply:
        go_on.wait(PATIENCE)
        return Reply(503)

    provider.server.routes["/userinfo"] = wait
    try:
        yield
    finally:
        go_on.set()


@pytest.mark.first
@pytest.mark.both_databases
def test_hanging_provider_delays_no_other_caller(ports: Ports, provider: OwnProvider) -> None:
    make_user(ports)
    _, app_token = make_app(ports)
    assert fault(ports, provider.access_token(jti="fetches the keys")) is None
    tokens = [provider.access_token(jti=str(number)) for number in range(AT_ONCE)]
    # None of the three that are at the provider gives up before the end.
    patient = replace(
        ports, identity_provider=OpenIdProvider(WithTimeout(ports.http, "/userinfo", PATIENCE))
    )
    with ThreadPoolExecutor(AT_ONCE) as pool, hanging(provider):
        waiting = [pool.submit(fault, patient, token) for token in tokens]
        # The others have been told so already.
        refused = islice(as_completed(waiting, PATIENCE), AT_ONCE - 3)
        assert {future.result(180) for future in refused} == {TokenFault.PROVIDER}
        before = calls(ports)
        assert fault(patient, provider.access_token(jti="late")) is TokenFault.PROVIDER
        assert calls(ports) == before
        assert create_token(ports, NOBODY, email="customer@example.com", password=PASSWORD).access
        assert who(ports, app_token).actor.is_app
    assert {future.result(180) for future in waiting} == {TokenFault.PROVIDER}


@pytest.mark.parametrize("path", ["/keys", "/userinfo"])
def test_connection_failure_is_distinguished_from_a_bad_token(
    ports: Ports, provider: OwnProvider, path: str
) -> None:
    token = provider.access_token()
    provider.server.answer(path, Reply(raw=lambda connection: connection.close()))
    assert fault(ports, token) is TokenFault.PROVIDER
    assert TokenFault.PROVIDER.code == "InvalidTokenError"
