"""A simulated hour of a busy shop: its normal traffic never meets a rate limit."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from ipaddress import IPv4Address, ip_network
from operator import attrgetter

import pytest

from app.adapters.queue.rate_limiter import connect_rate_limiter
from app.domain.sign_in.rate_limits import EXTERNAL_TOKEN, RateLimitPolicy
from app.domain.values.errors import TooManyRequests
from app.ports import Ports
from app.services.authorization.rate_limits import limit_operation, limit_rate
from tests.builders.people import NOBODY
from tests.fakes.clock import START, FakeClock
from tests.fixtures.ports import fake_ports

pytestmark = pytest.mark.first

HOUR = 3600.0
OFFICE, RENDERER = "203.0.113.7", "192.0.2.10"
OFFICE_PEOPLE, RENDERED_CUSTOMERS, OTHER_CUSTOMERS = 200, 3000, 300

PURCHASE: Mapping[str, float] = {
    "checkoutCreate": 1,
    "checkoutLinesAdd": 4,
    "checkoutLinesUpdate": 2,
    "checkoutLinesDelete": 1,
    "checkoutEmailUpdate": 0.8,
    "checkoutComplete": 0.5,
}
"""How often a customer does what in an hour, on average: everybody fills a cart, half buy."""

ACCOUNT: Mapping[str, float] = {
    "accountRegister": 0.1,
    "confirmAccount": 0.1,
    "requestPasswordReset": 0.05,
    "setPassword": 0.05,
    "passwordChange": 0.02,
    "requestEmailChange": 0.01,
    "userAvatarUpdate": 0.02,
}
SINGLE_SIGN_ON: Mapping[str, float] = {
    "externalAuthenticationUrl": 1,
    "externalObtainAccessTokens": 1,
    "externalRefresh": 12,
    "externalLogout": 0.5,
    EXTERNAL_TOKEN: 1,
}
"""Of everybody in the office: signed in at nine, the access token refreshed every five minutes."""


@dataclass(frozen=True, slots=True)
class Use:
    """One counted use, ``at`` seconds into the hour."""

    at: float
    name: str
    address: str


@pytest.fixture
def shop(sqlite_url: str) -> Iterator[Ports]:
    """A shop that trusts its own renderer."""
    clock = FakeClock()
    made = fake_ports(sqlite_url, clock)
    policy = RateLimitPolicy(trusted_clients=(ip_network(f"{RENDERER}/32"),))
    configuration = replace(made.configuration, rate_limits=policy)
    yield replace(made, configuration=configuration)
    made.database.close()


def uses(
    chance: random.Random, habits: Mapping[str, float], address: str, within: float = HOUR
) -> Iterator[Use]:
    """What one person does, at any moment of the hour or of its beginning."""
    for name, often in habits.items():
        times = int(often) + (chance.random() < often % 1)
        for _ in range(times):
            yield Use(chance.uniform(0, within if times == 1 else HOUR), name, address)


def busy_hour(chance: random.Random) -> Iterator[Use]:
    """Everybody's uses: an office behind one address, a renderer, and customers at home."""
    for _ in range(OFFICE_PEOPLE):
        yield from uses(chance, PURCHASE, OFFICE)
        yield from uses(chance, ACCOUNT, OFFICE)
        yield from uses(chance, SINGLE_SIGN_ON, OFFICE, within=600)
    for _ in range(RENDERED_CUSTOMERS):
        yield from uses(chance, PURCHASE, RENDERER)
        yield from uses(chance, ACCOUNT, RENDERER)
    for number in range(OTHER_CUSTOMERS):
        address = str(IPv4Address("100.64.0.1") + number)
        yield from uses(chance, PURCHASE, address)
        yield from uses(chance, ACCOUNT, address)


def refusals(ports: Ports, hour: list[Use]) -> Counter[tuple[str, str]]:
    """Which uses were refused, by address and name, the clock going on from one to the next."""
    found: Counter[tuple[str, str]] = Counter()
    clock = FakeClock()
    ports = replace(ports, clock=clock, rate_limiter=connect_rate_limiter(clock))
    for use in sorted(hour, key=attrgetter("at")):
        elapsed = clock.now() - START
        clock.pass_(seconds=(timedelta(seconds=use.at) - elapsed).total_seconds())
        try:
            if use.name == EXTERNAL_TOKEN:
                limit_rate(ports, use.name, use.address)
            else:
                limit_operation(ports, replace(NOBODY, address=use.address), use.name)
        except TooManyRequests:
            found[use.address, use.name] += 1
    return found


def test_normal_traffic_of_a_busy_hour_is_not_limited(shop: Ports) -> None:
    hour = list(busy_hour(random.Random(15)))  # noqa: S311 - the same hour each time
    assert len(hour) > 20_000
    assert refusals(shop, hour) == {}


def test_renderer_that_is_not_trusted_is_limited(shop: Ports) -> None:
    hour = list(busy_hour(random.Random(15)))  # noqa: S311 - the same hour each time
    configuration = replace(shop.configuration, rate_limits=RateLimitPolicy())
    rendered = [use for use in hour if (use.address, use.name) == (RENDERER, "checkoutCreate")]
    assert refusals(shop, rendered) == {}
    found = refusals(replace(shop, configuration=configuration), rendered)
    assert {address for address, _ in found} == {RENDERER}
