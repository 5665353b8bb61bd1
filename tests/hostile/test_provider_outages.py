"""Junk tokens and single failures at an identity provider don't stop anyone else's sign-in."""

import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app.domain.sign_in.rate_limits import EXTERNAL_TOKEN, RateLimitPolicy, parse_rates
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.identity.provider_calls import FAILED_PAUSE, MAX_FAILURES
from tests.builders.people import visit
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.servers.free_ports import free_port
from tests.servers.http import Received, Reply
from tests.servers.own_provider import OwnProvider
from tests.servers.sandbox import PATIENCE
from tests.services.provider_bearers import calls, fault, who
from tests.services.provider_logins import CODE, begin, codes, sign_in

PROVIDER = TokenFault.PROVIDER
USER_INFO, TOKEN, KEYS = "/userinfo", "/token", "/keys"

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@contextmanager
def failing_for(provider: OwnProvider, token: str, reply: Reply) -> Iterator[None]:
    """User-info answers ``reply`` to that token alone."""
    works = provider.server.routes[USER_INFO]

    def answer(received: Received) -> Reply:
        return reply if received.headers["authorization"].endswith(token) else works(received)

    provider.server.routes[USER_INFO] = answer
    yield
    provider.server.routes[USER_INFO] = works


def reset(connection: socket.socket) -> None:
    """End it as firewalls end requests that they don't like, and servers those too large."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404),
        Reply(429),
        Reply(500),
        Reply(200, b"<h1>Down for maintenance</h1>"),
        Reply(raw=lambda connection: connection.close()),
        Reply(raw=reset),
    ],
    ids=["404", "429", "500", "maintenance", "hang up", "reset"],
)
def test_failure_for_one_token_does_not_refuse_others(
    ports: Ports, provider: OwnProvider, reply: Reply
) -> None:
    for number in range(MAX_FAILURES + 1):
        with failing_for(provider, f"junk-{number}", reply):
            assert fault(ports, f"junk-{number}") is PROVIDER
    assert fault(ports, provider.known("an-opaque-token")) is None
    assert fault(ports, provider.access_token()) is None


def test_failure_for_one_sign_in_does_not_refuse_others(
    ports: Ports, provider: OwnProvider
) -> None:
    works = provider.server.routes[TOKEN]
    provider.server.answer(TOKEN, Reply(500))
    for _ in range(MAX_FAILURES + 1):
        assert codes(ports, begin(ports)["state"], CODE) == [(None, "INVALID")]
    provider.server.routes[TOKEN] = works
    assert sign_in(ports, provider).access


def test_key_set_that_failed_once_is_fetched_again(ports: Ports, provider: OwnProvider) -> None:
    works = provider.server.routes[KEYS]
    provider.server.answer(KEYS, Reply(503))
    assert fault(ports, provider.access_token(jti="unlucky")) is PROVIDER
    provider.server.routes[KEYS] = works
    assert fault(ports, provider.access_token(jti="next")) is None


def test_url_is_paused_after_several_failed_connections_but_not_for_verified_tokens(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    set_up(ports, provider, user_info_url=f"http://127.0.0.1:{free_port()}/")
    for number in range(MAX_FAILURES + 5):
        assert fault(ports, f"junk-{number}") is PROVIDER
    assert calls(ports) == MAX_FAILURES

    # The key set is fetched, and user-info is called in spite of the pause.
    assert fault(ports, provider.access_token()) is PROVIDER
    assert calls(ports) == MAX_FAILURES + 2

    clock.pass_(seconds=FAILED_PAUSE)
    assert fault(ports, "junk-later") is PROVIDER
    assert calls(ports) == MAX_FAILURES + 3


@pytest.mark.both_databases
def test_junk_that_keeps_the_provider_busy_does_not_delay_verified_tokens(
    ports: Ports, provider: OwnProvider
) -> None:
    works = provider.server.routes[USER_INFO]
    go_on = threading.Event()

    def answer(received: Received) -> Reply:
        if "junk" in received.headers["authorization"]:
            go_on.wait(2 * PATIENCE)
        return works(received)

    provider.server.routes[USER_INFO] = answer
    with ThreadPoolExecutor(12) as pool:
        junk = [pool.submit(fault, ports, f"junk-{number}") for number in range(12)]
        try:
            # Two wait for the provider; as soon as the others are refused, both places are taken.
            done = [next(as_completed(junk, timeout=PATIENCE)).result(180)]
            assert done == [PROVIDER]
            assert fault(ports, provider.access_token()) is None
        finally:
            go_on.set()


@pytest.mark.both_databases
def test_concurrent_first_requests_of_a_browser_succeed(
    ports: Ports, provider: OwnProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine has none of them wait too long for its turn.
    monkeypatch.setattr("app.services.identity.provider_calls.QUEUE_SECONDS", PATIENCE)
    for token in (provider.access_token(), provider.known("an-opaque-token")):
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda _, bearer=token: fault(ports, bearer), range(6)))
        assert found == [None] * 6


def test_unknown_opaque_tokens_are_limited_by_client_ip(
    ports: Ports, provider: OwnProvider
) -> None:
    policy = RateLimitPolicy(changed={EXTERNAL_TOKEN: parse_rates("3/minute")})
    limited = replace(ports, configuration=replace(ports.configuration, rate_limits=policy))
    known_token = provider.known("an-opaque-token")
    assert fault(limited, known_token) is None
    for number in range(10):
        assert fault(limited, f"junk-{number}") is not None
    assert len(provider.server.calls(USER_INFO)) == 3

    assert fault(limited, known_token) is None
    assert fault(limited, provider.access_token()) is None
    newcomer = provider.known("another-opaque-token", "bob")
    assert not who(limited, newcomer).actor.is_user
    assert identify(limited, visit(newcomer, "198.51.100.9")).actor.is_user
