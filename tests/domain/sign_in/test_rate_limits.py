"""How limits are spelled, and who counts as one client."""

from ipaddress import ip_network

import pytest

from app.domain.sign_in.rate_limits import (
    RATE_LIMITS,
    Rate,
    RateLimitPolicy,
    client_of,
    parse_rates,
)
from tests.fixtures.cases import cases


@cases(
    ("text", "rates"),
    [
        ("20/minute", (Rate(20, "minute"),)),
        (" 5/Second ; 100/day ", (Rate(5, "second"), Rate(100, "day"))),
        ("off", ()),
        ("OFF", ()),
    ],
)
def test_rate_is_parsed(text: str, rates: tuple[Rate, ...]) -> None:
    assert parse_rates(text) == rates


@cases("text", ["", "20", "20/fortnight", "0/minute", "-1/minute", "1/minute;"])
def test_invalid_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must look like 20/minute"):
        parse_rates(text)


@cases(
    ("address", "client"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        (None, "unknown"),
        ("no address", "unknown"),
    ],
)
def test_client_is_an_ipv4_address_or_an_ipv6_network(address: str | None, client: str) -> None:
    assert client_of(address) == client


def test_trusted_clients_get_a_hundred_times_as_much() -> None:
    policy = RateLimitPolicy(trusted_clients=(ip_network("192.0.2.0/28"),))
    (first, *_) = RATE_LIMITS["accountRegister"].rates
    assert policy.rates("accountRegister", "192.0.2.9")[0] == Rate(first.times * 100, first.unit)
    assert policy.rates("accountRegister", "192.0.2.99")[0] == first
    assert policy.rates("accountRegister", None)[0] == first


def test_settings_change_single_limits() -> None:
    policy = RateLimitPolicy({"accountRegister": parse_rates("1/day"), "checkoutCreate": ()})
    assert policy.rates("accountRegister", "203.0.113.7") == (Rate(1, "day"),)
    assert policy.rates("checkoutCreate", "203.0.113.7") == ()
    assert policy.rates("setPassword", "203.0.113.7") == RATE_LIMITS["setPassword"].rates
